#include "lab/expression.h"

#include "lab/dimension.h"
#include "lab/figure_unit.h"
#include "lab/functions.h"
#include "lab/quantity.h"
#include "lab/suggest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace rdmalab::lab {
namespace {

constexpr std::size_t max_text = 1000;
constexpr int max_operations = 50; // of parentheses; the parser recurses

bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}
bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Recursive descent: comparison = sum relation sum; sum = product {(+|-) product}; product = atom
/// {(*|/) atom}; atom = number [unit] | function(name, ...) | ( sum ).
class Parser {
public:
  Parser(std::string_view text, const Lab& lab) : text_(text), lab_(lab) {}

  ParsedExpression run()
  {
    ParsedExpression parsed;
    Comparison comparison;
    comparison.text = std::string(text_);
    if (read(comparison))
      parsed.comparison = std::move(comparison);
    else
      parsed.problems.push_back(problem_);
    return parsed;
  }

  ParsedTerm run_term()
  {
    ParsedTerm parsed;
    Expr term;
    bool good = text_.size() <= max_text && sum(term);
    skip_spaces();
    if (good && at_ < text_.size())
      good = fail(at_, fmt::format("did not expect {} here", found()));
    if (good)
      parsed.term = std::move(term);
    else
      parsed.problems.push_back(problem_);
    return parsed;
  }

private:
  bool fail(std::size_t position, std::string message, std::string hint = {})
  {
    problem_ = {static_cast<int>(position) + 1, std::move(message), std::move(hint)};
    return false;
  }

  void skip_spaces()
  {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c)
  {
    skip_spaces();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::string found() const
  {
    return at_ < text_.size() ? fmt::format("\"{}\"", text_.substr(at_, 1)) : "the end";
  }

  bool read(Comparison& comparison)
  {
    if (text_.size() > max_text)
      return fail(max_text, fmt::format("longer than {} characters", max_text));
    if (!sum(comparison.left)) return false;
    const std::size_t place = at_;
    if (!relation(comparison.relation)) return false;
    if (!sum(comparison.right)) return false;
    skip_spaces();
    Relation second{};
    if (at_ < text_.size()) {
      const std::size_t rest = at_;
      if (relation(second))
        return fail(rest, "two comparisons in one expectation", "write two expectations");
      return fail(rest, fmt::format("did not expect {} here", text_.substr(rest, 1)));
    }
    if (!common(comparison.left.dimension, comparison.right.dimension))
      return mismatch(place, "compared with", comparison.left, comparison.right);
    return true;
  }

  bool relation(Relation& out)
  {
    static constexpr std::array<std::pair<std::string_view, Relation>, 5> relations{
        {{"<=", Relation::less_equal},
         {">=", Relation::greater_equal},
         {"==", Relation::equal},
         {"<", Relation::less},
         {">", Relation::greater}}};
    skip_spaces();
    for (const auto& [sign, value] : relations) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      at_ += sign.size();
      out = value;
      return true;
    }
    return fail(at_, fmt::format("expected a comparison, not {}", found()), "one of < <= > >= ==");
  }

  /// A number that lacks its unit is the likeliest mistake and gets the plainest words.
  bool mismatch(std::size_t place, std::string_view verb, const Expr& a, const Expr& b)
  {
    for (const auto& [bare, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const auto type = type_of(other->dimension);
      if (bare->dimension != Dimension::number || !type) continue;
      return fail(static_cast<std::size_t>(bare->column) - 1,
                  fmt::format("missing unit: {} is {} {}", dimension_name(other->dimension), verb,
                              "a bare number"),
                  "units: " + unit_names(*type));
    }
    skip_from(place);
    return fail(at_, fmt::format("{} can't be {} {}", dimension_name(a.dimension), verb,
                                 dimension_name(b.dimension)));
  }
  void skip_from(std::size_t place)
  {
    at_ = place;
    skip_spaces();
  }

  bool sum(Expr& out)
  {
    if (!term(out)) return false;
    for (;;) {
      skip_spaces();
      const std::size_t place = at_;
      const bool adds = accept('+');
      if (!adds && !accept('-')) return true;
      if (!binary(out, adds ? Expr::Kind::add : Expr::Kind::subtract, place)) return false;
    }
  }

  bool term(Expr& out)
  {
    if (!atom(out)) return false;
    for (;;) {
      skip_spaces();
      const std::size_t place = at_;
      const bool multiplies = accept('*');
      if (!multiplies && !accept('/')) return true;
      if (!binary(out, multiplies ? Expr::Kind::multiply : Expr::Kind::divide, place)) return false;
    }
  }

  bool binary(Expr& left, Expr::Kind kind, std::size_t place)
  {
    if (++operations_ > max_operations)
      return fail(place, fmt::format("more than {} operations", max_operations));
    const bool additive = kind == Expr::Kind::add || kind == Expr::Kind::subtract;
    Expr right;
    if (!(additive ? term(right) : atom(right))) return false;
    std::optional<Dimension> dimension;
    switch (kind) {
    case Expr::Kind::multiply:
      dimension = product(left.dimension, right.dimension);
      break;
    case Expr::Kind::divide:
      dimension = quotient(left.dimension, right.dimension);
      break;
    default:
      dimension = common(left.dimension, right.dimension);
      break;
    }
    if (!dimension) {
      if (additive) return mismatch(place, "added to", left, right);
      return fail(place, fmt::format("{} can't be {} by {}", dimension_name(left.dimension),
                                     kind == Expr::Kind::multiply ? "multiplied" : "divided",
                                     dimension_name(right.dimension)));
    }
    Expr made;
    made.kind = kind;
    made.dimension = *dimension;
    made.column = left.column;
    made.operands.push_back(std::move(left));
    made.operands.push_back(std::move(right));
    left = std::move(made);
    return true;
  }

  bool atom(Expr& out)
  {
    skip_spaces();
    out.column = static_cast<int>(at_) + 1;
    if (peek() == '(') return parenthesis(out);
    if (is_digit(peek())) return number(out);
    if (is_letter(peek())) return function(out);
    return fail(at_, fmt::format("expected a number or a function, not {}", found()),
                "for example retention(roce) < 30%");
  }

  bool parenthesis(Expr& out)
  {
    const std::size_t open = at_++;
    if (++depth_ > max_operations)
      return fail(open, fmt::format("more than {} parentheses deep", max_operations));
    if (!sum(out)) return false;
    if (!accept(')')) return fail(at_, fmt::format("expected ) and not {}", found()));
    --depth_;
    return true;
  }

  bool number(Expr& out)
  {
    const std::size_t start = at_;
    while (is_digit(peek()) || peek() == '.') ++at_;
    const std::string_view digits = text_.substr(start, at_ - start);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.back() == '.')
      return fail(start, fmt::format("\"{}\" is not a number", digits));
    const std::size_t after_digits = at_;
    skip_spaces();
    const std::size_t unit_start = at_;
    while (is_letter(peek()) || peek() == '%') ++at_;
    if (at_ == unit_start) {
      at_ = after_digits;
      out.value = value;
      return true;
    }
    if (text_.substr(at_, 2) == "/s") at_ += 2; // Mb/s
    return with_unit(out, start, digits, value, text_.substr(unit_start, at_ - unit_start));
  }

  bool with_unit(Expr& out, std::size_t start, std::string_view digits, double value,
                 std::string_view unit)
  {
    if (unit == "%" || unit == "ppm") {
      out.dimension = Dimension::ratio; // may be over 100 %: a retention can
      out.value = value / (unit == "%" ? 100 : 1e6);
      return true;
    }
    std::vector<std::string> known{"%", "ppm"};
    for (const auto& [type, dimension] :
         {std::pair(Type::rate, Dimension::rate), std::pair(Type::time, Dimension::time),
          std::pair(Type::bytes, Dimension::bytes)}) {
      const auto parsed = parse_quantity(type, fmt::format("{}{}", digits, unit));
      if (const auto* exact = std::get_if<std::uint64_t>(&parsed)) {
        out.dimension = dimension;
        out.value = static_cast<double>(*exact);
        return true;
      }
      const std::string names = unit_names(type);
      for (std::size_t i = 0; i <= names.size();) {
        const std::size_t comma = std::min(names.find(',', i), names.size());
        if (names.substr(i, comma - i) == unit)
          return fail(start, std::get<QuantityError>(parsed).message);
        known.push_back(names.substr(i, comma - i));
        i = comma + 2;
      }
    }
    return fail(
        start,
        fmt::format("{}{}: unknown unit \"{}\"{}", digits, unit, unit, did_you_mean(unit, known)),
        "units: " + join(known));
  }

  /// A name of a function or of something in the lab; the latter may hold dashes.
  std::string_view word(bool dashes)
  {
    const std::size_t start = at_;
    while (is_letter(peek()) || is_digit(peek()) || (dashes && peek() == '-')) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool function(Expr& out)
  {
    const std::size_t start = at_;
    const std::string_view name = word(false);
    std::vector<std::string> known;
    std::vector<std::string> usages;
    const Signature* signature = nullptr;
    for (const Signature& s : signatures()) {
      known.push_back(s.name);
      usages.push_back(usage(s));
      if (s.name == name) signature = &s;
    }
    if (signature == nullptr)
      return fail(start, fmt::format("unknown function \"{}\"{}", name, did_you_mean(name, known)),
                  "functions: " + join(usages));
    if (!accept('('))
      return fail(at_, fmt::format("expected ( after {}, not {}", name, found()),
                  usage(*signature));
    if (!arguments(out, *signature)) return false;
    out.kind = Expr::Kind::call;
    out.dimension = signature->result;
    if (!assign(out, *signature, start)) return false;
    if (signature->function == Function::figure)
      out.dimension = figure_dimension(lab_, out.call.traffic);
    return true;
  }

  bool arguments(Expr& out, const Signature& signature)
  {
    do {
      skip_spaces();
      const std::size_t start = at_;
      const std::string_view argument = word(true);
      if (argument.empty())
        return fail(at_, fmt::format("expected a name, not {}", found()), usage(signature));
      out.arguments.emplace_back(argument);
      out.argument_columns.push_back(static_cast<int>(start) + 1);
    } while (accept(','));
    if (!accept(')'))
      return fail(at_, fmt::format("expected , or ) and not {}", found()), usage(signature));
    return true;
  }

  /// Gives each argument its meaning: the required ones by position, the optional ones by their
  /// words.
  bool assign(Expr& out, const Signature& signature, std::size_t start)
  {
    Call& call = out.call;
    call.function = signature.function;
    const std::size_t given = out.arguments.size();
    if (given < signature.required.size())
      return fail(start,
                  fmt::format("{} needs a {}", signature.name, name_of(signature.required[given])),
                  usage(signature));
    std::size_t next_optional = 0;
    for (std::size_t i = 0; i < given; ++i) {
      const std::string& word = out.arguments[i];
      const auto column = static_cast<std::size_t>(out.argument_columns[i]) - 1;
      if (i < signature.required.size()) {
        if (!assign_one(call, signature.required[i], word, column)) return false;
        continue;
      }
      while (next_optional + 1 < signature.optional.size() &&
             !allows(signature.optional[next_optional], word))
        ++next_optional;
      if (next_optional >= signature.optional.size())
        return fail(column, fmt::format("{} takes no \"{}\" here", signature.name, word),
                    usage(signature));
      if (!assign_one(call, signature.optional[next_optional], word, column, &signature))
        return false;
      ++next_optional;
    }
    if (signature.function == Function::cpu && call.part.empty()) call.part = "total";
    return true;
  }

  static bool allows(Parameter parameter, const std::string& word)
  {
    const auto& words = words_of(parameter);
    return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
  }

  bool assign_one(Call& call, Parameter parameter, const std::string& word, std::size_t column,
                  const Signature* optional_of = nullptr)
  {
    if (!allows(parameter, word)) {
      std::vector<std::string> words = words_of(parameter);
      std::string what = name_of(parameter);
      if (optional_of != nullptr &&
          optional_of->optional.size() > 1) { // which one was meant is not known
        words.clear();
        for (const Parameter p : optional_of->optional)
          words.insert(words.end(), words_of(p).begin(), words_of(p).end());
        what = "argument";
      }
      return fail(column, fmt::format("unknown {} \"{}\"{}", what, word, did_you_mean(word, words)),
                  "allowed: " + join(words));
    }
    field_of(call, parameter) = word;
    return true;
  }

  std::string_view text_;
  const Lab& lab_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
  Problem problem_;
};

} // namespace

ParsedTerm parse_term(std::string_view text, const Lab& lab)
{
  return Parser(text, lab).run_term();
}

ParsedExpression parse_expression(std::string_view text, const Lab& lab)
{
  return Parser(text, lab).run();
}

} // namespace rdmalab::lab

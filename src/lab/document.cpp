#include "lab/document.h"

#include <map>
#include <sstream>

#include <spdlog/fmt/fmt.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/node/node.h>
#include <yaml-cpp/parser.h>

namespace rdmalab::lab {
namespace {

constexpr std::size_t max_nesting = 32;
constexpr std::size_t budget = 20'000;

/// One a node, and one more for every hundred bytes of text: aliases multiply both.
std::size_t cost(std::string_view text)
{
  return 1 + text.size() / 100;
}

std::size_t cost(const Node& node)
{
  std::size_t sum = cost(node.text);
  for (const Node& key : node.keys) sum += cost(key);
  for (const Node& item : node.items) sum += cost(item);
  return sum;
}

/// Grows the tree event by event. After the first refusal it ignores what follows.
class Builder : public YAML::EventHandler {
public:
  explicit Builder(Diagnostics& out) : out_(out) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
  {
    Node node = at(mark, Node::Kind::null);
    // yaml-cpp gives the place of what comes next; the key says better where the value is missing.
    if (!open_.empty() && !open_.back().node.keys.empty() && open_.back().expects_value()) {
      node.line = open_.back().node.keys.back().line;
      node.column = open_.back().node.keys.back().column;
    }
    complete(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
  {
    if (stopped_) return;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return stop(mark, "an alias that stands inside what it names");
    spent_ += found->second.cost;
    if (spent_ > budget) return stop(mark, too_many());
    if (open_.size() + found->second.depth > max_nesting) return stop(mark, too_deep());
    add(found->second.node);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override
  {
    check_tag(mark, tag);
    Node node = at(mark, Node::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!"; // yaml-cpp's mark of a scalar that is not plain
    complete(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override
  {
    start(mark, tag, anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override
  {
    start(mark, tag, anchor, Node::Kind::mapping);
  }
  void OnMapEnd() override { end(); }

  std::optional<Node> root;

private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::size_t depth = 1; ///< levels below and with this node
    [[nodiscard]] bool expects_value() const { return node.keys.size() > node.items.size(); }
  };
  struct Anchored {
    Node node;
    std::size_t cost;
    std::size_t depth;
  };

  static Node at(const YAML::Mark& mark, Node::Kind kind)
  {
    Node node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  static std::string too_many() { return fmt::format("more than {} values in one file", budget); }
  static std::string too_deep()
  {
    return fmt::format("nested more than {} levels deep", max_nesting);
  }

  void stop(const YAML::Mark& mark, std::string message)
  {
    stop(mark.line + 1, mark.column + 1, std::move(message));
  }
  void stop(int line, int column, std::string message)
  {
    if (!stopped_) out_.add(line, column, std::move(message));
    stopped_ = true;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag)
  {
    if (tag.empty() || tag == "?" || tag == "!") return;
    stop(mark, fmt::format("the YAML tag {} means nothing in a lab file", tag));
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind)
  {
    check_tag(mark, tag);
    if (open_.size() >= max_nesting) stop(mark, too_deep());
    if (++spent_ > budget) stop(mark, too_many());
    if (stopped_) return;
    open_.push_back({at(mark, kind), anchor});
  }

  void end()
  {
    if (stopped_) return;
    Open done = std::move(open_.back());
    open_.pop_back();
    if (!open_.empty()) open_.back().depth = std::max(open_.back().depth, done.depth + 1);
    remember(done.node, done.anchor, done.depth);
    add(std::move(done.node));
  }

  void complete(Node node, YAML::anchor_t anchor)
  {
    spent_ += cost(node.text);
    if (spent_ > budget) stop(node.line, node.column, too_many());
    if (stopped_) return;
    remember(node, anchor, 1);
    add(std::move(node));
  }

  void remember(const Node& node, YAML::anchor_t anchor, std::size_t depth)
  {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {node, cost(node), depth};
  }

  void add(Node node)
  {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    const bool is_key = parent.node.mapping() && !parent.expects_value();
    (is_key ? parent.node.keys : parent.node.items).push_back(std::move(node));
  }

  Diagnostics& out_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t spent_ = 0;
  bool stopped_ = false;
};

} // namespace

std::string describe(const Node& node)
{
  switch (node.kind) {
  case Node::Kind::null:
    return "nothing";
  case Node::Kind::scalar:
    return '"' + node.text + '"';
  case Node::Kind::sequence:
    return "a list";
  case Node::Kind::mapping:
    return "a mapping";
  }
  return {};
}

std::optional<Node> parse_document(std::string_view text, Diagnostics& out)
{
  if (text.size() > max_document_bytes) {
    out.add(0, 0,
            fmt::format("the file has {} bytes; a lab file has at most {}", text.size(),
                        max_document_bytes));
    return std::nullopt;
  }
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    out.add(0, 0, fmt::format("not a text file: byte {} is zero", zero),
            "a lab file is YAML in UTF-8");
    return std::nullopt;
  }
  Builder builder(out);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      out.add(1, 1, "the file is empty", "start with `version: 1`; docs/lab-file.md has every key");
      return std::nullopt;
    }
    std::optional<Node> root = std::move(builder.root);
    if (root && parser.HandleNextDocument(builder)) {
      out.add(1, 1, "more than one YAML document",
              "one lab a file; remove the lines `---` after the first");
      return std::nullopt;
    }
    return root;
  } catch (const YAML::Exception& e) {
    const bool known = !e.mark.is_null();
    out.add(known ? e.mark.line + 1 : 0, known ? e.mark.column + 1 : 0, "not YAML: " + e.msg,
            "check indentation, quotes and brackets above this place");
  } catch (const std::exception& e) {
    out.add(0, 0, std::string("not YAML: ") + e.what());
  }
  return std::nullopt;
}

} // namespace rdmalab::lab

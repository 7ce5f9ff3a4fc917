#include "base/log.h"

#include <cstdlib>

#include <spdlog/sinks/stdout_color_sinks.h>

namespace rdmalab {

void setup_log(int verbosity)
{
  const char* no_color = std::getenv("NO_COLOR");
  const auto mode = no_color != nullptr && *no_color != '\0' ? spdlog::color_mode::never
                                                             : spdlog::color_mode::automatic;
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode);
  auto logger = std::make_shared<spdlog::logger>("rdmalab", std::move(sink));
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(verbosity < 0    ? spdlog::level::warn
                    : verbosity == 0 ? spdlog::level::info
                    : verbosity == 1 ? spdlog::level::debug
                                     : spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

void log_error(const Error& error)
{
  spdlog::error("{}", error.message());
  if (!error.hint.empty()) spdlog::error("hint: {}", error.hint);
}

} // namespace rdmalab

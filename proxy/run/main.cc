// Main: the only place that sees both run and backend; it puts the one's parts into the other.
#include "proxy/run/commands.h"
#include "proxy/run/parts.h"

int main(int argc, char** argv) {
  const portico::run::Parts parts;
  return portico::run::portico_main(argc, argv, parts);
}

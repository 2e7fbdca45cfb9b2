#include "proxy/run/help.h"

namespace portico::run {
namespace {

constexpr std::string_view overview =
    R"text(Portico is the front door of a small server: it takes HTTP for several websites, tells them
apart by host name and path, and answers from WSGI applications that it starts and looks after
itself, or from any other HTTP servers.

  portico run [FILE]              open the front door that FILE describes
                                  (default: /etc/portico/portico.yaml)
  portico check [FILE]            say what is wrong with FILE, and what this machine lacks
  portico serve [APPLICATION]     run one WSGI application from here, without any file
  portico status [FILE]           say how its sites, workers and endpoints are
  portico logs SITE               show what a site's processes wrote; -f: and go on
  portico deploy SITE             load its code anew, while the old serves on
  portico stop [FILE]             finish what runs, and end it
  portico exec SITE -- COMMAND    run a command with a site's Python, user and environment
  portico version                 print the version
  portico help COMMAND            explain a command (also: portico COMMAND --help)

Try it: in the directory of a Django project "shop"

  portico serve shop.wsgi         then open http://localhost:8000

A website of your own, as FILE:

  listen: [":8080"]
  sites:
    shop.example:                 # the host name in the browser's address line
      wsgi: shop.wsgi             # the module with "application" in it
      directory: /srv/shop        # where that module is found
    files.example:
      to: 127.0.0.1:9000          # any HTTP server

All options of the file: man portico.yaml. All values in force: portico check --effective FILE.
)text";

constexpr std::string_view run_help =
    R"text(portico run [FILE]: open the front door that FILE describes

FILE is /etc/portico/portico.yaml unless another is named. Every mistake in it is reported as
file:line:column with what to write instead, and nothing is started (exit status 2). A site whose
directory, interpreter or import fails answers 503 with the cause and harms no other site.

Started as root it binds its ports first and then answers as the user of the file ("user:", else
portico, else nobody). It stays in the foreground and writes its log to standard error.

  TERM, INT   stop: take no new requests, finish those that run, leave; a second one, or
              timeouts.shutdown (30 s), ends them at once
  QUIT        stop at once
  USR1        open the log files anew (after logrotate)
)text";

constexpr std::string_view check_help =
    R"text(portico check [FILE] [--effective]: say what is wrong with FILE, and what this machine lacks

Prints every mistake in the file, and then whatever it names that is not here: directories,
interpreters, users, files that the front may not read. Nothing is started or changed.

  --effective   print all values in force, defaults included, as a file that means the same

Exit status: 0 all is well, 1 something is missing on this machine, 2 there are mistakes in FILE.
)text";

constexpr std::string_view serve_help =
    R"text(portico serve [APPLICATION] [--listen ADDRESS] [--workers N] [--threads N] [--embedded]: run one
WSGI application from the current directory, without any file

Without a name it is Django's (beside the settings that manage.py names), else that of wsgi.py,
app.py or application.py. APPLICATION is one of
  shop.wsgi             a module; "application" or "app" in it is called
  shop.wsgi:callable    another name in it
  "app:create_app()"    what a factory returns
  app.py                a file

  --listen ADDRESS   ":8000" (the default), "127.0.0.1:8000", "[::1]:8000" or "unix:/path"
  --workers N        processes (default 2)
  --threads N        Python threads in each (default 1); 0 with --embedded: the front's own
  --embedded         in the front process itself, in place of workers
  --reload           load its code anew whenever a Python source below the directory changes

A virtual environment in .venv or venv is used if there is one, else python3. Ctrl-C stops it.
When the first import fails, that is told and it ends with status 1; with --reload it waits for a
change of the source.
)text";

constexpr std::string_view status_help =
    R"text(portico status [FILE] [--json]: say how everything is in the Portico that runs FILE

Sites with their routes, applications with their workers, pools with their endpoints; what is not
well stands there with its reason. Root and the user who runs Portico see everything, the user of
a site sees that site.

  --json   one object for programs; its names are stable: man portico

Exit status: 0 all is well, 1 something is down or degraded, 3 Portico is not running, 4 it cannot
be asked.
)text";

constexpr std::string_view logs_help =
    R"text(portico logs SITE [-f] [-n N] [--config FILE]: show what the processes of a site wrote

The last lines of their standard output and standard error, each with its time, and what Portico
has to say of them. The supervisor keeps the last 256 KiB of each site.

  -f              go on with what comes, until Ctrl-C
  -n N            so many of the lines that are there (default 20)
  --config FILE   the file that Portico runs (default: /etc/portico/portico.yaml)
)text";

constexpr std::string_view deploy_help =
    R"text(portico deploy SITE | --all [--config FILE]: bring new code into use, without losing a request

Another interpreter imports the code as it lies there now, the commands of before_deploy are run, a
first worker is asked what "warm" names; then requests go to the new code, and the old workers
finish what they run. Whatever fails keeps the old code. Sites are changed one after the other.

  --all           every site with an application of its own
  --config FILE   the file that Portico runs (default: /etc/portico/portico.yaml)

Exit status: 0 the new code serves, 1 it does not, 3 Portico is not running, 4 it cannot be asked.
)text";

constexpr std::string_view stop_help =
    R"text(portico stop [FILE]: end the Portico that runs FILE

It takes no new requests, finishes those that run, for at most timeouts.shutdown (30 s), and leaves.
The command waits for that.

Exit status: 0 it has ended, 3 it was not running, 4 it cannot be asked.
)text";

constexpr std::string_view exec_help =
    R"text(portico exec SITE[/ROUTE] [--config FILE] -- COMMAND...: run a command as the site would

It has the site's directory, environment and, when root runs it, user; the site's virtual
environment is first in PATH, and "python" is the site's interpreter. The command takes the place
of this one: its exit status is the command's. Portico itself need not run.

  --config FILE   where the site stands (default: /etc/portico/portico.yaml)

  portico exec shop.example -- python manage.py migrate
  portico exec shop.example/blog -- python -c "import sys; print(sys.prefix)"

Exit status: that of the command; 126 it cannot be executed, 127 it is not there; 1 its user or
directory is not there, 2 there are mistakes in FILE or on the command line.
)text";

constexpr std::string_view version_help = "portico version: print the version\n";

}  // namespace

std::string_view help_text(Verb topic) {
  switch (topic) {
    case Verb::run:
      return run_help;
    case Verb::check:
      return check_help;
    case Verb::serve:
      return serve_help;
    case Verb::status:
      return status_help;
    case Verb::logs:
      return logs_help;
    case Verb::deploy:
      return deploy_help;
    case Verb::stop:
      return stop_help;
    case Verb::exec:
      return exec_help;
    case Verb::version:
      return version_help;
    case Verb::help:
    case Verb::front:
      break;
  }
  return overview;
}

}  // namespace portico::run

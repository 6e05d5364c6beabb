import { problemsTable, settingsMarkdown, textTable } from '#src/platform/config/index.ts'
import { type Command, exitCodes } from './command.ts'

/** Shows what is in force, and every problem. */
export const configCommand: Command = {
  name: 'config',
  summary: 'Shows the settings in force, secrets masked, and every problem.',
  usage: '[--json | --markdown]',
  description:
    'Reads the environment as serve does. Ends with 78 when serve would refuse to start.',
  options: {
    json: { doc: 'One JSON object: settings, problems, warnings.' },
    markdown: { doc: 'The tables of all settings, as in docs/settings.md.' },
  },
  examples: ['LOG_LEVEL=debug trilho config', 'trilho config --json'],
  run: async (args, io, program) => {
    if (args.flag('markdown')) {
      io.out(`${settingsMarkdown(program.settingGroups)}\n`)
      return exitCodes.ok
    }
    const { effective, problems, warnings } = program.load(io.env)
    if (args.flag('json')) {
      io.out(`${JSON.stringify({ settings: effective, problems, warnings })}\n`)
    } else {
      const rows = effective.map(({ name, value, source }) => [name, value ?? '', source])
      io.out(`${textTable(['SETTING', 'VALUE', 'FROM'], rows)}\n`)
      if (problems.length > 0) io.err(`\n${problemsTable(problems)}\n`)
      for (const warning of warnings) io.err(`warning: ${warning}\n`)
    }
    return problems.length > 0 ? exitCodes.config : exitCodes.ok
  },
}

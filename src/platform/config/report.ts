import { printable } from '../observe/index.ts'
import type { SettingProblem } from './load.ts'
import { companionName, type Setting, type SettingGroup } from './settings.ts'

/** Pads columns with blanks; the last column is left ragged. Cells are made printable. */
export const textTable = (
  header: readonly string[],
  cells: readonly (readonly string[])[],
): string => {
  const rows = cells.map((row) => row.map(printable))
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}

/** All problems of the configuration as one table for a terminal. */
export const problemsTable = (problems: readonly SettingProblem[]): string =>
  textTable(
    ['SETTING', 'VALUE', 'PROBLEM', 'EXPECTED', 'HOW TO FIX'],
    problems.map((problem) => [
      problem.name,
      problem.value.length > 40 ? `${problem.value.slice(0, 37)}...` : problem.value,
      problem.problem,
      problem.expected.replaceAll('`', ''),
      problem.fix,
    ]),
  )

/** The tables of `docs/settings.md`: one heading per group, one row per variable. */
export const settingsMarkdown = (
  groups: readonly { readonly title: string; readonly settings: SettingGroup }[],
): string =>
  groups
    .map(({ title, settings }) =>
      [
        `## ${title}`,
        '',
        '| Variable | Default | Value | Meaning |',
        '|---|---|---|---|',
        ...Object.values(settings).map(settingRow),
      ].join('\n'),
    )
    .join('\n\n')

const settingRow = (setting: Setting<unknown>): string => {
  const companion = companionName(setting)
  const name =
    companion === undefined ? `\`${setting.env}\`` : `\`${setting.env}\`<br>or \`${companion}\``
  const fallback = setting.default === undefined ? 'none' : `\`${setting.default}\``
  const cells = [name, fallback, setting.kind.expected, setting.doc]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

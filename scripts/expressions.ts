import { parse } from 'acorn'
import { analyse } from 'scslre'

// Finds the regular expressions of src and codecs whose time grows faster than their input: two parts that can share
// the same characters, one that repeats itself, or one that is searched for anew at each place. What is sent to us may
// be megabytes long, and a search holds the event loop.

const folders = ['src', 'codecs'] as const
const root = new URL('..', import.meta.url).pathname

type Expression = { readonly pattern: string; readonly flags: string }

/** The expressions in a program; the types are taken off before, and with them nothing that is an expression. */
const expressionsOf = (source: string): readonly Expression[] => {
  const program = parse(new Bun.Transpiler({ loader: 'ts' }).transformSync(source), {
    ecmaVersion: 'latest',
    sourceType: 'module',
  })
  const found: Expression[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('regex' in node && typeof node.regex === 'object') found.push(node.regex as Expression)
    for (const child of Object.values(node)) visit(child)
  }
  visit(program)
  return found
}

const findings: string[] = []
for (const folder of folders) {
  for await (const file of new Bun.Glob(`${folder}/**/*.ts`).scan({ cwd: root })) {
    for (const { pattern, flags } of expressionsOf(await Bun.file(root + file).text())) {
      const { reports } = analyse({ source: pattern, flags })
      const kinds = new Set(reports.map(({ type }) => type))
      if (kinds.size > 0) findings.push(`${file}: /${pattern}/${flags} (${[...kinds].join(', ')})`)
    }
  }
}
if (findings.length > 0) {
  console.error(`expressions whose time grows faster than their input:\n${findings.join('\n')}`)
  process.exit(1)
}

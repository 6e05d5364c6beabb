import { expect, test } from 'bun:test'
import { parse } from 'acorn'
import { analyse } from 'scslre'

// Finds the regular expressions of src and codecs whose time grows faster than their input: two parts that can share
// the same characters, one that repeats itself, or one that is searched for anew at each place. What is sent to us may
// be megabytes long, and a search holds the event loop.

const folders = ['src', 'codecs'] as const
const root = new URL('../..', import.meta.url).pathname

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

/** The kinds of growth that an expression shows; none: its time is linear. */
const growthOf = ({ pattern, flags }: Expression): readonly string[] => [
  ...new Set(analyse({ source: pattern, flags }).reports.map(({ type }) => type)),
]

test('each kind of growth is known where it is', () => {
  const grows = (source: string): readonly string[] => expressionsOf(source).flatMap(growthOf)
  expect(grows('const x: RegExp = /^(a+)+$/')).toEqual(['Self'])
  expect(grows('x.replace(/^a*a*$/, "")')).toEqual(['Trade'])
  expect(grows('/a+$/.test(x)')).toEqual(['Move'])
  expect(grows('/^a+$/.test(x)')).toEqual([])
})

test.each(folders)('no expression of %s takes longer than its input is long', async (folder) => {
  const findings: string[] = []
  for await (const file of new Bun.Glob(`${folder}/**/*.ts`).scan({ cwd: root })) {
    for (const one of expressionsOf(await Bun.file(root + file).text())) {
      const kinds = growthOf(one)
      if (kinds.length > 0) findings.push(`${file}: /${one.pattern}/${one.flags} (${kinds})`)
    }
  }
  expect(findings).toEqual([])
})

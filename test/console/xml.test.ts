import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* The page shows a message of any size, and the browser goes on answering. */

type Line = {
  readonly props: {
    readonly style: { readonly paddingLeft: string }
    readonly children: readonly (false | { readonly props: { readonly children: string } })[]
  }
}
const { linesOf } = await loadConsole<{
  readonly linesOf: (xml: string) => { readonly lines: readonly Line[]; readonly isCut: boolean }
}>(['xml-lines.tsx'])

/** Each line with its indentation in steps. */
const told = (xml: string) =>
  linesOf(xml).lines.map(({ props: { style, children } }) => [
    Number.parseInt(style.paddingLeft, 10) / 14,
    children.flatMap((one) => (one === false ? [] : [one.props.children])).join(''),
  ])

test('a document has one element a line, set in by its depth', () => {
  expect(told('<?xml version="1.0"?>\n<a>\n  <b c="1">text</b><d/>\n  <e> </e>tail\n</a>')).toEqual(
    [
      [0, '<?xml version="1.0"?>'],
      [0, '<a>'],
      [1, '<b c="1">text</b>'],
      [1, '<d/>'],
      [1, '<e> </e>'],
      [1, 'tail\n'],
      [0, '</a>'],
    ],
  )
})

test('of a large document the first lines are drawn, and of no other is any left out', () => {
  const document = (many: number) => `<a>${'<b>1</b>'.repeat(many)}</a>\n`
  const [whole, large] = [linesOf(document(1_998)), linesOf(document(200_000))]
  expect([whole.lines.length, whole.isCut]).toEqual([2_000, false])
  expect([large.lines.length, large.isCut]).toEqual([2_000, true])
})

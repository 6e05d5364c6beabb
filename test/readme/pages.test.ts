import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandHere } from '../support/command-here.ts'
import { pages } from '../support/pages.ts'
import { root } from '../support/program.ts'

const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** Commands with a choice of actions, such as `list | show <id>`. */
const usages = new Map<string, string>()
for (const [, name = ''] of (await commandHere(['--help'])).out.matchAll(
  /^ {2}([a-z-]+) {2,}\S/gm,
)) {
  const { out } = await commandHere([name, '--help'])
  usages.set(name, /^Usage: trilho \S+ ?(.*)$/m.exec(out)?.[1] ?? '')
}

test('every command that a page names is one of the program, with an action that it has', () => {
  const wrong = pages.flatMap((page) =>
    [...read(page).matchAll(/(?<=[`\n/] ?)trilho ([a-z][a-z-]+)(?: ([a-z]+)\b)?/g)].flatMap(
      ([text, name = '', action]) => {
        const usage = usages.get(name)
        if (usage === undefined) return [`${page}: ${text}`]
        const isKnown = action === undefined || !usage.includes('|') || usage.includes(action)
        return isKnown ? [] : [`${page}: ${text}`]
      },
    ),
  )
  expect(usages.size).toBeGreaterThan(10)
  expect(wrong).toEqual([])
})

describe('the glossary', () => {
  const glossary = 'docs/glossary.md'
  const terms = [...read(glossary).matchAll(/^\| (?!Term|-)([^|]+) \|/gm)].flatMap(
    ([, cell = '']) => cell.split(', '),
  )

  test('is in order, and has each term once', () => {
    const sorted = [...new Set(terms)].sort((a, b) => a.localeCompare(b, 'en'))
    expect(terms).toEqual(sorted)
  })

  test('explains no word that no page uses', () => {
    const others = pages.filter((page) => page !== glossary).map(read)
    const text = others.join('\n').replaceAll('_', ' ').toLowerCase()
    expect(terms.filter((term) => !text.includes(term.toLowerCase()))).toEqual([])
  })

  test('explains what the API and its pages name by letters', () => {
    const wanted = ['ISPB', 'SPI', 'DICT', 'MANU', 'STAN', 'RRN', 'EndToEndId', 'BizMsgIdr', 'MTI']
    expect(wanted.filter((term) => !terms.includes(term))).toEqual([])
  })
})

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { translations } from '../support/pages.ts'
import { root } from '../support/program.ts'

const read = (page: string): string => readFileSync(join(root, page), 'utf8')

const fence = /^```[^\n]*\n[\s\S]*?^```$/gm
const codeOf = (page: string): readonly string[] => read(page).match(fence) ?? []
const proseOf = (page: string): string => read(page).replace(fence, '')

/** What a reader finds and a translation keeps, in its order: levels of headings, rows, items, and their first cell of code. */
const skeletonOf = (page: string): readonly string[] =>
  proseOf(page)
    .split('\n')
    .flatMap((line) => {
      const [, mark] = /^(#+|- |\|(?: `[^|]*` )?)/.exec(line) ?? []
      return mark === undefined ? [] : [mark]
    })

const linksOf = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !target.startsWith('README'))

describe.each(translations)('%s is in step with the README', (page) => {
  test('same headings, tables and lists', () => {
    expect(skeletonOf(page)).toEqual(skeletonOf('README.md'))
  })

  test('same commands and what they print', () => {
    expect(codeOf(page)).toEqual(codeOf('README.md'))
  })

  test('same links, and each leads to the other', () => {
    expect(linksOf(page)).toEqual(linksOf('README.md'))
    expect(read(page)).toContain('](README.md)')
    expect(read('README.md')).toContain(`](${page})`)
  })
})

/** What a grown reader reads in a minute of a language of their own. */
const wordsAMinute = 230

test('the README is read in five minutes, without what is looked up: commands, pages, packages', () => {
  const words = proseOf('README.md')
    .replace(/^\| [`[].*$/gm, '')
    .replace(/\]\([^)]*\)/g, '')
    .match(/[\p{L}\p{N}]+/gu)
  expect(words!.length).toBeLessThanOrEqual(5 * wordsAMinute)
})

test('the README names every package of the production set', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
  const [, table = ''] = read('README.md').split('## What it stands on')
  const named = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((name) => name.replaceAll('`', '')),
  )
  expect(named.sort()).toEqual(Object.keys(dependencies).sort())
})

/** The table of faults: each says what is lost, and names tests that there are. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/program.ts'

const page = readFileSync(join(root, 'docs/operation.md'), 'utf8')
const [, table = ''] = /\| Fault \| Told by \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(page) ?? []
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))

test('every fault says what is lost meanwhile, and who sees to it', () => {
  expect(rows.length).toBeGreaterThanOrEqual(20)
  for (const row of rows) {
    const [, , , lost = '', tests = ''] = row
    expect(row).toHaveLength(5)
    expect(lost).not.toBe('')
    const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    expect(named).not.toBeEmpty()
    expect(
      named.filter((name) => !/\.test\.ts$/.test(name) || !existsSync(join(root, name))),
    ).toEqual([])
  }
})

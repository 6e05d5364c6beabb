import { expect, test } from 'bun:test'
import { fewestFirst, itemsMax } from '../../src/pix/pages.ts'

const countOf = (counts: Readonly<Record<string, number>>) => {
  const asked: string[] = []
  const countBy = async (one: object): Promise<number> => {
    const name = Object.keys(one).join()
    asked.push(name)
    return counts[name] ?? Number.NaN
  }
  return { asked, countBy }
}

test('what the fewest match leads, and nothing is counted where there is no choice', async () => {
  const { asked, countBy } = countOf({ status: 3, debtor: itemsMax + 1, shown: 2 })
  const given = { debtor: '12345678909', status: 'ATIVA', shown: false, agreement: undefined }
  expect(Object.entries((await fewestFirst(given, countBy)) ?? {})).toEqual([
    ['shown', false],
    ['status', 'ATIVA'],
    ['debtor', '12345678909'],
  ])
  expect(asked).toEqual(['debtor', 'status', 'shown'])
  for (const few of [{}, { debtor: undefined, status: 'ATIVA' }]) {
    expect(await fewestFirst(few, countBy)).toEqual(few)
  }
  expect(asked).toHaveLength(3)
})

test('among more than a list may hold nothing is looked for', async () => {
  const given = { debtor: '12345678909', status: 'ATIVA' }
  const many = { debtor: itemsMax + 1, status: itemsMax + 1 }
  expect(await fewestFirst(given, countOf(many).countBy)).toBeUndefined()
  expect(await fewestFirst(given, countOf({ ...many, status: itemsMax }).countBy)).toBeDefined()
})

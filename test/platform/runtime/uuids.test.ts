import { afterAll, expect, setSystemTime, test } from 'bun:test'
import { newUuid, uuidMoment } from '#src/platform/runtime/index.ts'

afterAll(() => {
  setSystemTime()
})

test('an id tells the moment it was made, also after a clock that ran ahead is put right', () => {
  for (const at of ['2040-01-01T00:00:00.000Z', '2031-05-06T07:08:09.123Z']) {
    setSystemTime(new Date(at))
    expect(uuidMoment(newUuid()).toISOString()).toBe(at)
  }
})

test('ids of one millisecond are in the order of their making', () => {
  const ids = Array.from({ length: 1_000 }, () => newUuid(new Date('2031-05-06T07:08:09.124Z')))
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

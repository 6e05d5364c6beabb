import { expect, test } from 'bun:test'
import {
  keepAscii,
  roundBytes,
  startOf,
  textOf,
} from '../../../../codecs/iso20022/builders/values.ts'

const piece = 4_096

/** Keeps so many bytes in all, in pieces. */
const fill = (bytes: number): void => {
  for (let left = bytes; left > 0; left -= piece) keepAscii('x'.repeat(Math.min(left, piece)))
}

/** Until the next value is the first of a round. */
const toStartOfRound = (): void => {
  let before = startOf(keepAscii('x'))
  for (;;) {
    const start = startOf(keepAscii('x'))
    if (start < before) break
    before = start
  }
  fill(roundBytes - 1)
}

test('a value stands until its bytes are needed for another, and is refused from then on', () => {
  toStartOfRound()
  const first = keepAscii('12345678')
  const between = keepAscii('........')
  const second = keepAscii('87654321')
  fill(roundBytes - 24)
  expect([first, between, second].map(textOf)).toEqual(['12345678', '........', '87654321'])
  const over = keepAscii('abcdefgh')
  // What is written by words goes beyond its end.
  for (const one of [first, between]) expect(() => textOf(one)).toThrow('written over')
  expect([textOf(over), textOf(second)]).toEqual(['abcdefgh', '87654321'])
  keepAscii('z')
  expect(() => textOf(second)).toThrow('written over')
  for (let round = 0; round < 2; round++) {
    fill(roundBytes)
    expect(() => textOf(over)).toThrow('written over')
  }
})

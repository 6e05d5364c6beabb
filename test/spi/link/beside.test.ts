import { expect, test } from 'bun:test'
import { askBeside } from '../../../src/spi/link/beside.ts'

const heldMs = 150
const asksMax = 6

/** It answers an ask when it has held it for a while, and refuses it as soon as another comes. */
const oneAtATime = () => {
  let asks = 0
  let refuse = (): void => {}
  return {
    asks: () => asks,
    ask: (): Promise<number> => {
      refuse()
      asks++
      if (asks > asksMax) return Promise.resolve(200)
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, heldMs, 204)
        refuse = () => {
          clearTimeout(timer)
          resolve(503)
        }
      })
    },
  }
}

test('a server that holds an ask for longer than the first waits, and ends it for the next, answers one of them', async () => {
  const server = oneAtATime()
  const { answer, isRescued } = await askBeside({
    ask: server.ask,
    isGood: (status) => status !== 503,
    isOver: () => false,
    againMs: heldMs * 0.8,
  })
  expect({ answer, isRescued, asks: server.asks() }).toEqual({
    answer: 204,
    isRescued: false,
    asks: 2,
  })
})

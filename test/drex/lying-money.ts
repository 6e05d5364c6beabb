/** The code of a contract that answers some selectors by code of their own, and true to all others. */
const answering = (bodies: Readonly<Record<string, string>>): string => {
  const entries = Object.entries(bodies)
  const answer = '60015f5260205ff3'
  let at = 5 + entries.length * 11 + answer.length / 2
  const jumps = entries.map(([selector, body]) => {
    const jump = `8063${selector}1461${at.toString(16).padStart(4, '0')}57`
    at += 1 + body.length / 2
    return jump
  })
  const bodiesAt = entries.map(([, body]) => `5b${body}`)
  const runtime = ['5f3560e01c', ...jumps, answer, ...bodiesAt].join('')
  const size = (runtime.length / 2).toString(16).padStart(4, '0')
  return `0x61${size}80600a5f395ff3${runtime}`
}

/**
 * Money that moves nothing and tells of no movement: it counts what it should move, and tells that count as the balance
 * of everybody. It has two decimals.
 */
export const lyingMoney = answering({
  '313ce567': '60025f5260205ff3',
  '23b872dd': '6044355f54015f5560015f5260205ff3',
  '70a08231': '5f545f5260205ff3',
})

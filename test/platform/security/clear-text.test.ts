import { expect, test } from 'bun:test'
import { createLogger } from '#src/platform/observe/index.ts'
import { isReadableOnTheWay, warnOfClearText } from '#src/platform/security/index.ts'

test.each([
  ['http://bank', true],
  ['http://10.0.0.1:80/x', true],
  ['http://127.0.0.1.example', true],
  ['http://localhost:1', false],
  ['http://127.0.0.1:1', false],
  ['http://[::1]:1', false],
  ['https://bank', false],
])('whether what goes to %s can be read on the way', (url, isReadable) => {
  expect(isReadableOnTheWay(url)).toBe(isReadable)
})

test('such an address is told of at start, by the name of its setting', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', sink: { write: (line) => lines.push(line) } })
  warnOfClearText(logger, 'A_URL', undefined, 'keys')
  warnOfClearText(logger, 'B_URL', 'https://a', 'keys')
  warnOfClearText(logger, 'C_URL', 'http://a', 'keys')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('C_URL is plain http to another machine: keys pass in clear')
})

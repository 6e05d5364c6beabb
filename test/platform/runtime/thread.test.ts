import { afterAll, expect, test } from 'bun:test'
import { createThread } from '#src/platform/runtime/index.ts'

/** Answers with the setup and what it was asked; "die" ends it, "fail" is answered with a failure. */
const entry = URL.createObjectURL(
  new Blob([
    `let setup
    onmessage = ({ data }) => {
      if (setup === undefined) setup = data
      else if (data === 'die') process.exit(1)
      else postMessage(data === 'fail' ? { failed: 'no' } : { answer: setup + data })
    }`,
  ]),
)

let begun = 0
const thread = createThread<string, string, string>(
  () => new Worker(entry),
  () => `${++begun}:`,
  60_000,
)
afterAll(thread.close)

const ask = (request: string) =>
  thread.ask(request).catch((error: unknown) => `failed: ${(error as Error).message}`)

test('what waits behind a request that kills the thread is answered by another thread', async () => {
  const answers = await Promise.all(['a', 'die', 'b', 'fail', 'die', 'c'].map(ask))
  expect(answers).toEqual([
    '1:a',
    'failed: the thread ended',
    '2:b',
    'failed: no',
    'failed: the thread ended',
    '3:c',
  ])
  expect([thread.waiting(), await ask('d')]).toEqual([0, '3:d'])
})

test('all that is not answered fails when the thread is closed', async () => {
  const asked = ['a', 'b'].map(ask)
  thread.close()
  expect(await Promise.all(asked)).toEqual(Array(2).fill('failed: the thread was closed'))
  expect(await ask('c')).toBe('4:c')
})

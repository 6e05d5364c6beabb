import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* What acts send for what a person has filled in, and what they say follows from it. */

type Act = {
  readonly consequence: string
  readonly run: (form: FormData, send: (...request: unknown[]) => Promise<unknown>) => unknown
}

const { retryClassActs } = await loadConsole<{
  readonly retryClassActs: (letters: object) => readonly Act[]
}>(['attention-acts.tsx'])

/** The requests of an act for this form. @param answer what each is answered with */
const sentBy = async (act: Act, filled: Readonly<Record<string, string>> = {}, answer = {}) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(filled)) form.set(name, value)
  const sent: unknown[][] = []
  await act.run(form, async (...request) => {
    sent.push(request)
    return answer
  })
  return sent
}

test('a class of dead letters is handled again by its error and its topic, and the question names both', async () => {
  const [act] = retryClassActs({ code: 'attempts_exhausted', topic: 'webhook.events', count: 3 })
  if (act === undefined) throw new Error('no act')
  const body = { code: 'attempts_exhausted', topic: 'webhook.events' }
  expect(await sentBy(act, {}, { retried: 3 })).toEqual([
    ['POST', '/v1/ops/dead-letters/retry', body],
  ])
  expect(act.consequence).toContain('webhook.events')
  expect(retryClassActs({ code: 'attempts_exhausted', topic: null, count: 3 })).toEqual([])
  expect(retryClassActs({ code: null, topic: 'webhook.events', count: 3 })).toEqual([])
})

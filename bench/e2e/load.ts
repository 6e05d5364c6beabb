/*
 * Sends payments over HTTP from a process of its own, each client one after the other, and tells how long each took.
 *
 *   bun bench/e2e/load.ts '{"url": …, "key": …, "from": …, "to": …, "count": …, "clients": …}'
 */
import { z } from 'zod'
import { transfer } from '../../test/support/participant.ts'

export type Load = z.infer<typeof loadSchema>
export type LoadResult = { readonly latenciesMs: readonly number[]; readonly refused: number }

const loadSchema = z.object({
  url: z.string(),
  key: z.string(),
  from: z.string(),
  to: z.string(),
  count: z.int(),
  clients: z.int(),
})

const load = loadSchema.parse(JSON.parse(process.argv[2] ?? ''))
const latenciesMs: number[] = []
let refused = 0
let left = load.count

const send = async (): Promise<void> => {
  const params = {
    local_instrument: 'MANU',
    transactions: [transfer(load.from, load.to, 100)],
  }
  const startMs = performance.now()
  const response = await fetch(`${load.url}/v1/spi/send`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${load.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ message_type: 'PACS008', params }),
  })
  const text = await response.text()
  if (response.status === 202) latenciesMs.push(performance.now() - startMs)
  else {
    if (refused++ === 0) console.error(response.status, text)
  }
}

const client = async (): Promise<void> => {
  while (left-- > 0) await send()
}

await Promise.all(Array.from({ length: load.clients }, client))
const result: LoadResult = { latenciesMs, refused }
console.log(JSON.stringify(result))

import { apiKeyFile } from '../../test/support/api-key.ts'
import { pacs008 } from '../../test/support/messages.ts'
import type { Contender, Group, Suite } from '../harness.ts'
import { createHttpLoad } from '../http-load.ts'
import { type Server, startServer } from '../server-process.ts'

const connections = 16

type Payment = {
  readonly result: {
    readonly end_to_end_id: string
    readonly amount: number
    readonly debtor: { readonly name: string; readonly document: string }
    readonly transaction_count: number
  }
}

/** The answer makes the checksum. */
const check = (body: string): number => {
  const { result } = JSON.parse(body) as Payment
  const text = result.end_to_end_id + result.debtor.name + result.debtor.document
  return Math.round(result.amount * 100) + result.transaction_count + Bun.hash.crc32(text)
}

/** Requests before we measure, because a young process mostly compiles. */
const warmUp = 16_000

export const transformContenders = (
  path: string,
  contentType: string,
  body: string,
  servers: Readonly<Record<string, Server>>,
  key: string,
): readonly Contender[] =>
  Object.entries(servers).map(([name, server]) => ({
    name,
    cpuUs: server.cpuUs,
    warmUp,
    run: createHttpLoad({
      url: server.url,
      path,
      headers: { 'Content-Type': contentType, Authorization: `Bearer ${key}` },
      body,
      connections,
      check,
    }),
  }))

/** A server that only takes and returns the same number of bytes. */
const floor = 'bare Bun echo'

const groups = async (): Promise<readonly Group[]> => {
  const { file: keyFile, key } = await apiKeyFile('spi:transform')
  const running = {
    trilho: await startServer('trilho.ts', keyFile),
    'Hono + zod-openapi + saxes': await startServer('peer.ts'),
  }
  const xml = pacs008()
  const path = '/v1/transform/pacs008'
  const answered = await fetch(running.trilho.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml', Authorization: `Bearer ${key}` },
    body: xml,
  })
  const withFloor = {
    ...running,
    [floor]: await startServer('body-echo.ts', await answered.text()),
  }
  const json = JSON.stringify({
    source_format: 'pacs.008',
    target_format: 'pix_payment',
    message: xml,
    options: { validate: false, enrich: false },
  })
  const goal = { ours: 'trilho', peer: 'Hono + zod-openapi + saxes' }
  const sameWork = Object.keys(running)
  const raw = 'POST /v1/transform/pacs008, XML body'
  const wrapped = 'POST /v1/transform, JSON'
  return [
    {
      name: raw,
      contenders: transformContenders(path, 'application/xml', xml, withFloor, key),
      goals: [
        { ...goal, atLeast: 4 },
        { ours: 'trilho', peer: floor, atLeast: 0.5 },
      ],
      sameWork,
    },
    {
      name: wrapped,
      contenders: transformContenders('/v1/transform', 'application/json', json, running, key),
      goals: [{ ...goal, atLeast: 2.5 }],
      sameWork,
    },
  ]
}

/**
 * The transform routes over real sockets: CPU time of the server process per request. This process makes the load, and
 * its own time does not count.
 */
export const httpSuite: Suite = { name: 'http', groups }

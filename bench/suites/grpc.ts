import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { createKeyFileStore } from '#src/platform/auth/index.ts'
import { encodeRequest } from '../../test/spi/grpc/support.ts'
import { pacs008 } from '../../test/support/messages.ts'
import type { Contender, Group, Suite } from '../harness.ts'
import { type Server, startServer } from '../server-process.ts'

const concurrency = 16
/** Calls before the first that counts: a young process mostly compiles. */
const warmUp = 4_000
const path = '/spigw.v1.TransformationService/Transform'

const same = (bytes: Buffer): Buffer => bytes

/** Makes `times` calls, some at once; the sizes of the answers make the checksum. */
const load = (url: string, request: Buffer, key: string) => {
  const client = new Client(new URL(url).host, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key}`)
  const call = (): Promise<number> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, same, same, request, metadata, (error, answer) => {
        if (error !== null || answer === undefined) reject(error)
        else resolve(answer.length)
      })
    })
  return async (times: number): Promise<number> => {
    let left = times
    let sum = 0
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left--
        const size = await call()
        sum += size
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    return sum
  }
}

const ours = 'trilho'
const echoAndTransform = 'grpc-js echo and the transformation'

const groups = async (): Promise<readonly Group[]> => {
  const keyFile = join(mkdtempSync(join(tmpdir(), 'trilho-bench-')), 'keys.json')
  const { key } = await createKeyFileStore(keyFile, () => new Date()).create({
    name: 'bench',
    environment: 'test',
    grants: ['spi:transform'],
    expiresAt: undefined,
  })
  const servers: Readonly<Record<string, Server>> = {
    [ours]: await startServer('grpc.ts', keyFile),
    'grpc-js echo': await startServer('grpc-echo.ts'),
    [echoAndTransform]: await startServer('grpc-echo.ts', 'transform'),
  }
  const message = Buffer.from(pacs008())
  const request = encodeRequest({ source_format: 'pacs.008', message })
  const contenders: Contender[] = Object.entries(servers).map(([name, { url, cpuUs }]) => ({
    name,
    cpuUs,
    run: load(url, request, key),
  }))
  for (const { run } of contenders) await run(warmUp)
  return [
    {
      name: 'Transform, unary',
      contenders,
      // Key, scope, count, log line and messages may cost 0.3 of what cannot be saved: 1 / 1.3.
      goals: [{ ours, peer: echoAndTransform, atLeast: 0.77 }],
    },
  ]
}

/** CPU time of the server process per call, against the library doing nothing but to echo the same bytes. */
export const grpcSuite: Suite = { name: 'grpc', groups }

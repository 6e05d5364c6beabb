import { encodeRequest } from '../../test/spi/api/grpc/support.ts'
import { apiKeyFile } from '../../test/support/api-key.ts'
import { pacs008 } from '../../test/support/messages.ts'
import { createGrpcLoad } from '../grpc-load.ts'
import type { Contender, Group, Suite } from '../harness.ts'
import { type Server, startServer } from '../server-process.ts'

const calls = 16
/** Calls before we measure, because a young process mostly compiles. */
const warmUp = 16_000
const path = '/spigw.v1.TransformationService/Transform'

const ours = 'trilho'
const echoAndTransform = 'grpc-js echo and the transformation'

const groups = async (): Promise<readonly Group[]> => {
  const { file: keyFile, key } = await apiKeyFile('spi:transform')
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
    run: createGrpcLoad({ url, path, authorization: `Bearer ${key}`, request, calls }),
  }))
  for (const { run } of contenders) await run(warmUp)
  return [
    {
      name: 'Transform, unary',
      contenders,
      // Key, scope, count, log line and messages may cost 0.3 of the work that nobody can save: 1 / 1.3.
      goals: [{ ours, peer: echoAndTransform, atLeast: 0.77 }],
    },
  ]
}

/** CPU time of the server process per call, against the library that only echoes the same bytes. */
export const grpcSuite: Suite = { name: 'grpc', groups }

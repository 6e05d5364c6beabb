import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { createMetrics } from '#src/platform/telemetry/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { pacs008 } from '../../test/support/messages.ts'
import { answerCpu } from './answer-cpu.ts'

/**
 * The library alone: takes bytes and gives them back; no key, no count, no log line. With the
 * argument `transform` it also does once per call what the call is for.
 */
const [work] = process.argv.slice(2)
const { run } = createTransform({
  metrics: createMetrics({ version: 'bench', withProcess: false }),
})
const request = {
  sourceFormat: 'pacs.008',
  targetFormat: undefined,
  message: Buffer.from(pacs008()),
  options: { validate: false, enrich: false },
}

const same = (bytes: Buffer): Buffer => bytes
const echo: handleUnaryCall<Buffer, Buffer> = (call, reply) => {
  if (work === 'transform') {
    const outcome = run(request)
    if (!outcome.ok) throw outcome.error
    JSON.stringify(outcome.result)
  }
  reply(null, call.request)
}

const server = new Server()
server.addService(
  {
    Transform: {
      path: '/spigw.v1.TransformationService/Transform',
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  },
  { Transform: echo },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  answerCpu(`http://127.0.0.1:${port}`)
})

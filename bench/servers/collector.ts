import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { answerCpu } from './answer-cpu.ts'

/** Takes spans and forgets them: what a collector does with them is no cost of those who send. */
const same = (bytes: Buffer): Buffer => bytes
const take: handleUnaryCall<Buffer, Buffer> = (_call, reply) => reply(null, Buffer.alloc(0))

const server = new Server()
server.addService(
  {
    Export: {
      path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  },
  { Export: take },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error
  answerCpu(`http://127.0.0.1:${port}`)
})

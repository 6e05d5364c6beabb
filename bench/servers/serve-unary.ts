import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { answerCpu } from './answer-cpu.ts'

const same = (bytes: Buffer): Buffer => bytes

/** A gRPC server of the library alone, with one method from bytes to bytes. */
export const serveUnary = (path: string, handle: handleUnaryCall<Buffer, Buffer>): void => {
  const server = new Server()
  server.addService(
    {
      Call: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    },
    { Call: handle },
  )
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error
    answerCpu(`http://127.0.0.1:${port}`)
  })
}

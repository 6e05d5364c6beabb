import { answerCpu } from './answer-cpu.ts'

/** A bare server: it reads each body and answers the one text of its arguments. */
const [answer = ''] = process.argv.slice(2)
const headers = { 'Content-Type': 'application/json' }
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    await request.arrayBuffer()
    return new Response(answer, { headers })
  },
})
answerCpu(server.url.origin)

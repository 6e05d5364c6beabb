/** Starts a server and tells its process id; ends as its argument says. */
import { startEmbeddedPostgres } from '#src/platform/database/index.ts'

const [directory = '', end] = process.argv.slice(2)
const server = await startEmbeddedPostgres({ directory })
process.stdout.write(`${server.pid}\n`)
if (end === 'exit') process.exit(130)
if (end === 'throw') throw new Error('a crash')
if (end === 'stop') {
  await server.stop()
  process.exit(0)
}
await server.exited

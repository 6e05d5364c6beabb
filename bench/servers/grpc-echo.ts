import { createMetrics } from '#src/platform/observe/index.ts'
import { createTransform } from '#src/spi/index.ts'
import { pacs008 } from '../../test/support/messages.ts'
import { serveUnary } from './serve-unary.ts'

/**
 * The library alone: it returns the bytes that it takes; no key, no count, no log line. With the argument `transform`
 * it also does the call's own work once.
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

serveUnary('/spigw.v1.TransformationService/Transform', (call, reply) => {
  if (work === 'transform') {
    const outcome = run(request, 'refused')
    if (outcome instanceof Promise || !outcome.ok) throw new Error('it was not transformed at once')
    JSON.stringify(outcome.result)
  }
  reply(null, call.request)
})

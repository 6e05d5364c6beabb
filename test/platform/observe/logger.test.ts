import { expect, test } from 'bun:test'
import { createLogger, inSpan } from '#src/platform/observe/index.ts'
import { collected } from '../../support/collector.ts'

test('a line that is written within a span has the id of its trace, any other has none', async () => {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({
    level: 'info',
    sink: { write: (line) => lines.push(JSON.parse(line)) },
  })
  const { spans } = await collected(() => {
    logger.info({ id: 1 }, 'before')
    inSpan('one', {}, () => logger.child({ part: 'x' }).warn({ id: 2 }, 'within'))
    inSpan('two', {}, () => logger.info({ id: 3 }, 'within'))
  })
  logger.info({ id: 4 }, 'after')
  const ids = new Map(spans.map(({ name, traceId }) => [name, traceId]))
  expect(lines.map(({ id, trace_id }) => [id, trace_id])).toEqual([
    [1, undefined],
    [2, ids.get('one')],
    [3, ids.get('two')],
    [4, undefined],
  ])
})

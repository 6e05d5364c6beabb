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

test('the logger scrubs every field, also inside errors, and leaves identifiers', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const id = 'E1234567820261120194841111111111'
  logger.info({ deep: { note: 'card 12-4111111111111111' }, resource_id: id }, 'of 52998224725')
  logger.child({ token: 'Bearer abcdef' }).error({ err: new Error('4111111111111111') }, 'x')
  logger.error(
    { err: new Error('cannot reach postgres://u:hunter2@h/d'), password: 'swordfish' },
    'y',
  )
  const text = lines.join('')
  for (const secret of ['4111111111111111', '52998224725', 'abcdef', 'hunter2', 'swordfish']) {
    expect(text).not.toContain(secret)
  }
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ resource_id: id, msg: 'of [document]' })
  for (const line of lines) expect(line).toEndWith('}\n')
})

test('the text format keeps time, level, message and fields', () => {
  const lines: string[] = []
  const sink = { write: (line: string) => lines.push(line) }
  createLogger({ level: 'warn', format: 'text', sink }).warn({ port: 1 }, 'of 4111111111111111')
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\S+Z WARN of \[card number\] \{"port":1\}\n$/)
  createLogger({ level: 'warn', format: 'text', sink }).info({}, 'too fine')
  expect(lines).toHaveLength(1)
  // A terminal shows it.
  createLogger({ level: 'warn', format: 'text', sink }).warn({ of: '\u009b2J\u202e' }, 'x')
  expect(lines[1]).toEndWith('WARN x {"of":"\\u009b2J\\u202e"}\n')
})

test('a line of JSON steers no terminal, and says the same', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const of = 'a\u009b2J\u202eb'
  logger.info({ of }, of)
  const common = { requestId: 'req_1', path: '/', status: 200, method: 'GET', durationMs: 1 }
  logger.request({ ...common, keyId: undefined, more: { of } })
  for (const line of lines) {
    expect(line).toContain('"of":"a\\u009b2J\\u202eb"')
    expect(JSON.parse(line).of).toBe(of)
  }
  expect(lines).toHaveLength(2)
})

test('the request line is one JSON object, whatever the caller sends', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', sink: { write: (line) => lines.push(line) } })
  const traceId = '41111111111111110123456789abcdef'
  const common = { requestId: 'req_1', path: '/v1/items/{id}', status: 200 }
  logger.request({
    ...common,
    method: 'G"T',
    durationMs: 1.23456,
    keyId: undefined,
    traceId,
    more: { note: 'a "quoted"\nline of 52998224725', count: 2 },
  })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.trimEnd()).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    trace_id: traceId,
    request_id: 'req_1',
    method: 'OTHER',
    path: '/v1/items/{id}',
    status: 200,
    duration_ms: 1.235,
    note: 'a "quoted"\nline of [document]',
    count: 2,
    msg: 'request',
  })
  logger.level = 'warn'
  logger.request({ ...common, method: 'GET', durationMs: 1, keyId: 'k', more: undefined })
  expect(lines).toHaveLength(1)
})

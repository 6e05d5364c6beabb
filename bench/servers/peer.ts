import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { SaxesParser } from 'saxes'
import { answerCpu } from './answer-cpu.ts'

/*
 * The same two routes as one would write them with the usual libraries: zod describes and checks the
 * request and the result, saxes (namespaces on) reads the message. No keys, no log, no metrics.
 */

const request = z.object({
  source_format: z.string().optional(),
  target_format: z.string().optional(),
  message: z.string(),
  options: z.object({ validate: z.boolean(), enrich: z.boolean() }).partial().optional(),
})

const party = z.object({ name: z.string().nullable(), document: z.string() })

const payment = z.object({
  end_to_end_id: z.string().regex(/^E\d{8}\d{12}[A-Za-z0-9]{11}$/),
  amount: z.number().positive(),
  currency: z.string().length(3),
  debtor: party,
  creditor: party,
  transaction_count: z.int(),
})

const answer = z.object({
  transformation_id: z.string(),
  source_format: z.string(),
  target_format: z.string(),
  result: payment,
  created_at: z.string(),
})

const mask = (document: string): string =>
  '*'.repeat(Math.max(0, document.length - 4)) + document.slice(-4)

/** Walks the message with a stack of names, as a SAX consumer does. */
const read = (xml: string): z.input<typeof payment> => {
  const stack: string[] = []
  const found = new Map<string, string>()
  let currency = ''
  let count = 0
  let text = ''
  const parser = new SaxesParser({ xmlns: true })
  parser.on('opentag', (tag) => {
    stack.push(tag.local)
    text = ''
    if (tag.local === 'CdtTrfTxInf') count++
    if (tag.local === 'IntrBkSttlmAmt' && count === 1) currency = tag.attributes['Ccy']?.value ?? ''
  })
  parser.on('text', (chunk) => {
    text += chunk
  })
  parser.on('closetag', () => {
    const path = stack.slice(-5).join('/')
    if (count <= 1 && !found.has(path)) found.set(path, text)
    stack.pop()
    text = ''
  })
  parser.write(xml).close()
  const valueAt = (end: string): string => {
    for (const [path, value] of found) if (path.endsWith(end)) return value
    return ''
  }
  return {
    end_to_end_id: valueAt('PmtId/EndToEndId'),
    amount: Number(valueAt('IntrBkSttlmAmt')),
    currency,
    debtor: { name: valueAt('Dbtr/Nm'), document: mask(valueAt('Dbtr/Id/PrvtId/Othr/Id')) },
    creditor: { name: null, document: mask(valueAt('Cdtr/Id/PrvtId/Othr/Id')) },
    transaction_count: count,
  }
}

const respond = (xml: string): z.infer<typeof answer> =>
  answer.parse({
    transformation_id: `trf_${crypto.randomUUID()}`,
    source_format: 'pacs.008',
    target_format: 'pix_payment',
    result: payment.parse(read(xml)),
    created_at: new Date().toISOString(),
  })

const responses = {
  200: { description: 'ok', content: { 'application/json': { schema: answer } } },
}

const app = new OpenAPIHono()
app.openapi(
  createRoute({
    method: 'post',
    path: '/v1/transform',
    request: { body: { required: true, content: { 'application/json': { schema: request } } } },
    responses,
  }),
  (c) => c.json(respond(c.req.valid('json').message), 200),
)
app.post('/v1/transform/pacs008', async (c) => c.json(respond(await c.req.text())))
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: app.fetch })
answerCpu(`http://127.0.0.1:${server.port}`)

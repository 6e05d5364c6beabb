/** Webhooks of the standard: by key, over TLS with our certificate, on the engine of our own. */
import { afterAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:tls'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { fresh, payment, report, tellingOf, workerOn } from '../spi/in/worker/support.ts'
import { farYear } from '../support/far-year.ts'
import { issueCertificate } from '../support/pki.ts'
import { until } from '../support/until.ts'
import { startReceiver, startWebhooks } from '../webhooks/support.ts'
import { chargeBody, freshTxid, type Json, startPix } from './support.ts'

const pix = await startPix()
const worker = await workerOn(pix.database, {
  autoAccept: true,
  receivables: pix.receivables,
})
const authority = issueCertificate('Authority', { authority: true })
const server = issueCertificate('localhost', { issuer: authority, hosts: ['localhost'] })
const client = issueCertificate('gateway.example.com', { issuer: authority })
const pem = (text: string) => ({ text, path: undefined })
const hooks = await startWebhooks(pix.database, {
  tls: createFileMaterial({
    certificate: pem(client.cert),
    key: pem(client.key),
    ca: pem(authority.cert),
  }),
})
await worker.feature.start?.()
const { key, token } = await pix.receiver('ana')
const foreign = await pix.receiver('bia', '11222333000181')
const receiver = startReceiver()
afterAll(async () => {
  await worker.stop()
  await hooks.stop()
  await receiver.stop()
  await pix.database.close()
})

const call = (method: string, path: string, body?: object, by = token) =>
  pix.call(method, `/pix/v2${path}`, { token: by, ...(body && { body }) })
const configure = (webhookUrl: unknown, chave: string = key, by = token) =>
  call('PUT', `/webhook/${encodeURIComponent(chave)}`, { webhookUrl }, by)

const tell = tellingOf(pix.database, worker)

/** A charge that is paid; without a charge it is paid to the key. */
const paid = async (
  hasCharge = true,
  chave: string = key,
): Promise<{ endToEndId: string; txid: string }> => {
  const [txid, endToEndId] = [freshTxid(), fresh.endToEndId()]
  if (hasCharge) await call('PUT', `/cob/${txid}`, chargeBody(chave))
  const xml = payment({
    endToEndId,
    amount: '37.00',
    proxy: `<Prxy><Id>${chave}</Id></Prxy>`,
    instrument: hasCharge ? 'QRDN' : 'DICT',
    ...(hasCharge ? { transactionId: `<TxId>${txid}</TxId>` } : {}),
  }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2')
  await tell(xml)
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  return { endToEndId, txid }
}

const told = (path = '/hook/pix'): readonly Json[] =>
  receiver.received
    .filter((one) => one.path === path)
    .flatMap(({ body }) => (JSON.parse(body) as Json).pix)
const about = (endToEndId: string): readonly Json[] =>
  told().filter((one) => one.endToEndId === endToEndId)

const problem = (status: number, type: string) => ({
  status,
  json: { type: `https://pix.bcb.gov.br/api/v2/error/${type}`, status },
})

describe('the webhook of a key', () => {
  test('is set, shown, listed, replaced and removed by its account alone', async () => {
    const { key: own, token: by } = await pix.receiver('ana')
    expect(await call('GET', `/webhook/${own}`, undefined, by)).toMatchObject(
      problem(404, 'WebhookNaoEncontrado'),
    )
    const put = await configure('http://127.0.0.1:1/a', own, by)
    expect([put.status, put.text]).toEqual([200, ''])
    const shown = (await call('GET', `/webhook/${own}`, undefined, by)).json
    expect(shown).toEqual({
      webhookUrl: 'http://127.0.0.1:1/a',
      chave: own,
      cnpj: '12345678000195',
      criacao: expect.stringMatching(/Z$/),
    })
    await configure('http://127.0.0.1:1/b', own, by)
    const { json: listed } = await call('GET', '/webhook', undefined, by)
    expect(listed.webhooks.find(({ chave }: Json) => chave === own)).toEqual({
      ...shown,
      webhookUrl: 'http://127.0.0.1:1/b',
    })
    expect(listed.parametros.paginacao).toMatchObject({ paginaAtual: 0, itensPorPagina: 100 })
    const past = await call('GET', '/webhook?fim=2020-01-01T00:00:00Z', undefined, by)
    expect(past.json.webhooks).toEqual([])
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, `/webhook/${own}`, undefined, foreign.token)).toMatchObject(
        problem(404, 'WebhookNaoEncontrado'),
      )
    }
    const none = await call('GET', '/webhook', undefined, foreign.token)
    expect(none.json.webhooks).toEqual([])
    expect((await call('DELETE', `/webhook/${own}`, undefined, by)).status).toBe(204)
    expect((await call('DELETE', `/webhook/${own}`, undefined, by)).status).toBe(404)
  })

  test.each([
    ['nobody’s', 'no key', 'https://example.com/x', 'chave'],
    ['another’s', foreign.key, 'https://example.com/x', 'chave'],
    ['a URL that is none', key, 'nowhere', 'webhook.webhookUrl'],
    ['a private address', key, 'https://10.0.0.1/x', 'webhook.webhookUrl'],
    ['a long private one', key, `https://10.0.0.1/${'x'.repeat(300)}`, 'webhook.webhookUrl'],
    ['no text', key, 7, 'webhook.webhookUrl'],
    ['a space before it', key, ' https://example.com/', 'webhook.webhookUrl'],
    ['a letter that no URI has', key, 'https://example.com/pão', 'webhook.webhookUrl'],
    ['a percent sign alone', key, 'https://example.com/5%', 'webhook.webhookUrl'],
    ['too long', key, `https://example.com/${'a'.repeat(2_048)}`, 'webhook.webhookUrl'],
  ])('is refused for %s', async (_, chave, url, propriedade) => {
    const answer = await configure(url, chave)
    expect(answer).toMatchObject(problem(400, 'WebhookOperacaoInvalida'))
    expect(answer.json.violacoes).toEqual([expect.objectContaining({ propriedade })])
    expect((answer.json.violacoes[0].valor ?? '').length).toBeLessThanOrEqual(200)
  })

  test('goes with the key when the operator takes it away', async () => {
    const { key: own, token: by } = await pix.receiver('ana')
    await configure('http://127.0.0.1:1/a', own, by)
    await pix.call('DELETE', `/v1/pix/receivers/${own}`, { token: pix.operator })
    expect((await call('GET', `/webhook/${own}`, undefined, by)).status).toBe(404)
  })

  test('has a list that is refused where its parameters break a rule', async () => {
    for (const query of ['inicio=x', 'inicio=2021-01-01T00:00:00Z&fim=2020-01-01T00:00:00Z']) {
      expect(await call('GET', `/webhook?${query}`)).toMatchObject(
        problem(400, 'WebhookConsultaInvalida'),
      )
    }
  })
})

describe.each([
  ['rec', 'WebhookRecOperacaoInvalida'],
  ['cobr', 'WebhookCobROperacaoInvalida'],
])('the webhook of %s', (told, refusal) => {
  const path = `/webhook${told}`

  test('is set, shown, replaced and removed by its account alone', async () => {
    expect(await call('GET', path)).toMatchObject(problem(404, 'NaoEncontrado'))
    for (const webhookUrl of ['http://127.0.0.1:1/a', 'http://127.0.0.1:1/b']) {
      const put = await call('PUT', path, { webhookUrl })
      expect([put.status, put.text]).toEqual([200, ''])
      expect((await call('GET', path)).json).toEqual({
        webhookUrl,
        criacao: expect.stringMatching(/Z$/),
      })
    }
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, path, undefined, foreign.token)).toMatchObject(
        problem(404, 'NaoEncontrado'),
      )
    }
    await call('PUT', path, { webhookUrl: 'http://127.0.0.1:1/c' }, foreign.token)
    expect((await call('GET', path)).json.webhookUrl).toBe('http://127.0.0.1:1/b')
    expect((await call('GET', '/webhook')).json.webhooks).toEqual([])
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('DELETE', path)).status).toBe(404)
  })

  test.each([
    ['a URL that is none', { webhookUrl: 'nowhere' }],
    ['a private address', { webhookUrl: 'https://10.0.0.1/x' }],
    ['no text', { webhookUrl: 7 }],
    ['a space before it', { webhookUrl: ' https://example.com/' }],
    ['nothing', {}],
    ['too long', { webhookUrl: `https://example.com/${'a'.repeat(2_048)}` }],
  ])('is refused for %s', async (_, body) => {
    const answer = await call('PUT', path, body)
    expect(answer).toMatchObject(problem(400, refusal))
    expect(answer.json.violacoes).toEqual([expect.objectContaining({ propriedade: 'webhookUrl' })])
  })
})

describe('a restricted key has of the webhooks of others', () => {
  const { client: makeClient, keys } = pix
  const restricted = (restrictions: object): Promise<string> => {
    const made = makeClient('ana')
    const record = { ...made.record, restrictions }
    keys.splice(keys.indexOf(made.record), 1, record)
    return pix.tokenOf({ ...made, record })
  }
  const url = 'http://127.0.0.1:1/a'
  const stolen = { webhookUrl: 'http://127.0.0.1:1/b' }
  const paths = async () => {
    const { key: chave, token: by } = await pix.receiver('ana')
    const all = [`/webhook/${chave}`, '/webhookrec', '/webhookcobr']
    for (const path of all) await call('PUT', path, { webhookUrl: url }, by)
    return all
  }

  test('none if it is for its own', async () => {
    const [own, other] = [
      await restricted({ own_webhooks: true }),
      await restricted({ own_webhooks: true }),
    ]
    for (const path of await paths()) {
      for (const method of ['PUT', 'GET', 'DELETE']) {
        const body = method === 'PUT' ? stolen : undefined
        const { status, json } = await call(method, path, body, own)
        expect([path, method, status]).toEqual([path, method, 403])
        expect(json.detail).toContain('own_webhooks')
      }
      expect((await call('GET', path)).json.webhookUrl).toBe(url)
      const listed = async (by: string) => (await call('GET', '/webhook', undefined, by)).text
      expect(await listed(own)).not.toContain(path.slice('/webhook/'.length))
      // What it makes is its own, until a key without restrictions takes it.
      await call('DELETE', path)
      for (const status of [200, 200]) {
        expect((await call('PUT', path, stolen, own)).status).toBe(status)
      }
      expect((await call('GET', path, undefined, own)).json.webhookUrl).toBe(stolen.webhookUrl)
      expect((await call('PUT', path, { webhookUrl: url }, other)).status).toBe(403)
      expect((await call('DELETE', path, undefined, own)).status).toBe(204)
    }
  })

  test.each([
    ['merchant_ids', { merchant_ids: ['loja'] }],
    ['wallets', { wallets: [`0x${'a'.repeat(40)}`] }],
  ])('what it may read if it is limited by %s', async (name, restrictions) => {
    const by = await restricted(restrictions)
    for (const path of await paths()) {
      for (const method of ['PUT', 'DELETE']) {
        const { status, json } = await call(method, path, method === 'PUT' ? stolen : undefined, by)
        expect([path, method, status]).toEqual([path, method, 403])
        expect(json.detail).toContain(name)
      }
      expect((await call('GET', path, undefined, by)).json.webhookUrl).toBe(url)
    }
  })
})

describe('what a webhook tells', () => {
  test('of a recurrence is each change of its status', async () => {
    await call('PUT', '/webhookrec', { webhookUrl: receiver.url })
    const body = {
      vinculo: { contrato: '1', devedor: { cpf: '12345678909', nome: 'Francisco' } },
      calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
      politicaRetentativa: 'NAO_PERMITE',
    }
    const { idRec } = (await call('POST', '/rec', body)).json
    // Another name is no other status.
    await call('PATCH', `/rec/${idRec}`, { vinculo: { devedor: { nome: 'Chico' } } })
    const { status, atualizacao, encerramento, ativacao } = (
      await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
    ).json
    const toldOf = (): readonly Json[] =>
      receiver.received
        .filter(({ path }) => path === '/hook/rec')
        .map(({ body }) => JSON.parse(body))
    await until(() => toldOf().length > 0)
    expect(toldOf()).toEqual([{ recs: [{ idRec, status, atualizacao, encerramento, ativacao }] }])
    expect(status).toBe('CANCELADA')
  })

  test('is each Pix of a charge once it is settled, as GET shows it, and each end of a return', async () => {
    await configure(receiver.url)
    const { endToEndId } = await paid()
    const { endToEndId: bare } = await paid(false)
    await until(() => about(endToEndId).length === 1)
    const shown = (await call('GET', `/pix/${endToEndId}`)).json
    expect(about(endToEndId)).toEqual([shown])
    const asked = (await call('PUT', `/pix/${endToEndId}/devolucao/d1`, { valor: '7.00' })).json
    await tell(report([{ endToEndId, instructionId: asked.rtrId, status: 'ACCC' }]))
    await until(() => about(endToEndId).length === 2)
    expect(about(endToEndId)[1]).toEqual((await call('GET', `/pix/${endToEndId}`)).json)
    expect(about(endToEndId)[1].devolucoes).toMatchObject([{ id: 'd1', status: 'DEVOLVIDO' }])
    // Our own event alone tells of what has no txid.
    expect(about(bare)).toEqual([])
    const [{ count } = { count: 0 }] = await pix.sql<{ count: number }[]>`
      select count(*)::int as count from webhook_events where subject = ${bare}`
    expect(count).toBe(0)
    // The body is not signed: the connection is.
    expect(receiver.received[0]?.headers.get('webhook-signature')).toBeNull()
  })

  test('is a Pix of a static code that has a txid of its own, too', async () => {
    await configure(receiver.url)
    const endToEndId = fresh.endToEndId()
    const xml = payment({
      endToEndId,
      amount: '37.00',
      proxy: `<Prxy><Id>${key}</Id></Prxy>`,
      instrument: 'QRES',
      transactionId: '<TxId>balcao1</TxId>',
    }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2')
    await tell(xml)
    await tell(report([{ endToEndId, status: 'ACCC' }]))
    await until(() => about(endToEndId).length === 1)
    expect(about(endToEndId)).toMatchObject([{ txid: 'balcao1', chave: key }])
  })

  test('comes again until it is taken, with what it said', async () => {
    let answers = 0
    const flaky = startReceiver(() => new Response('', { status: answers++ === 0 ? 500 : 200 }))
    const { key: own } = await pix.receiver('ana')
    await configure(`${flaky.url}/`, own)
    const { endToEndId } = await paid(true, own)
    await until(() => flaky.received.length === 1)
    await until(async () => {
      await pix.sql`update webhook_deliveries set next_attempt_at = now() where status = 'pending'
        and attempts = 1 and exists (select from webhook_attempts where delivery_id = webhook_deliveries.id)`
      return flaky.received.length === 2
    })
    const [first, second] = flaky.received
    expect(second?.body).toBe(first?.body ?? '')
    expect(second?.path).toBe('/hook/pix')
    expect(JSON.parse(first?.body ?? '').pix[0].endToEndId).toBe(endToEndId)
    await flaky.stop()
  })

  test('is told to subscribers of our own events too, with names of persons to none that asks for thin', async () => {
    const own = startReceiver()
    await pix.sql`
      insert into webhook_endpoints (id, account, url, events)
      values ('whk_own', 'ana', ${own.url}, array['pix.received', 'pix.returned'])`
    // Another account's endpoint, of the same event.
    await pix.sql`
      insert into webhook_endpoints (id, account, url, events)
      values ('whk_other', 'bia', ${own.url}, array['pix.received'])`
    const { endToEndId, txid } = await paid()
    await until(() => own.received.length === 1)
    expect(JSON.parse(own.received[0]?.body ?? '')).toMatchObject({
      type: 'pix.received',
      data: { end_to_end_id: endToEndId, txid, amount: '37.00' },
    })
    expect(own.received[0]?.headers.get('webhook-signature')).toStartWith('v1,')
    await pix.sql`delete from webhook_endpoints where id in ('whk_own', 'whk_other')`
    await own.stop()
  })

  test('goes over TLS with our certificate to receivers that ask for one', async () => {
    const peers: string[] = []
    const secure = createServer(
      { key: server.key, cert: server.cert, ca: authority.cert, requestCert: true },
      (socket) => {
        socket.once('data', () => {
          peers.push(String(socket.getPeerCertificate().subject?.CN))
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
        })
      },
    ).listen(0, '127.0.0.1')
    await until(() => secure.listening)
    const { port } = secure.address() as { readonly port: number }
    const { key: own } = await pix.receiver('ana')
    await configure(`https://localhost:${port}/shop`, own)
    await paid(true, own)
    await until(() => peers.length === 1)
    expect(peers).toEqual(['gateway.example.com'])
    secure.close()
  })

  test('is shown with its deliveries to the account, and changed by the standard alone', async () => {
    await configure('http://127.0.0.1:1/x')
    const [{ id } = { id: '' }] = await pix.sql<{ id: string }[]>`
      select id from webhook_endpoints where topic = ${`api-pix/pix/${key}`}`
    const { call: manage } = hooks
    await pix.sql`update webhook_endpoints set account = 'default' where id = ${id}`
    await paid()
    const deliveries = async () =>
      ((await (await manage('GET', `/${id}/deliveries`)).json()) as Json).deliveries
    await until(async () => (await deliveries()).length > 0)
    for (const [method, path, body] of [
      ['PATCH', '', { active: false }],
      ['POST', '/rotate', {}],
      ['POST', '/test', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const answer = await manage(method, `/${id}${path}`, body)
      expect([method, answer.status]).toEqual([method, 409])
    }
  })
})

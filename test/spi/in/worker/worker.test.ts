import { describe, expect, test } from 'bun:test'
import {
  type Delivery,
  deadLetterHeaders,
  type KeptLetter,
  topics,
} from '#src/platform/broker/index.ts'
import { changeStatuses, outboundHeaders } from '#src/spi/messages/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { lettersIn } from '../../../support/letters.ts'
import { until } from '../../../support/until.ts'
import { subscribe } from '../../../support/webhooks.ts'
import {
  envelope,
  fresh,
  inbound,
  ispb,
  payment,
  paymentReturn,
  queued,
  refusal,
  report,
  runningWorker,
  storedWhen,
  workerOn,
} from './support.ts'

const database = await createTestDatabase()
const { sql } = database
await subscribe(sql)
const worker = await runningWorker(database)
const letters = () => lettersIn(sql)

const isUnreadable = ({ headers }: KeptLetter): boolean =>
  headers[deadLetterHeaders.errorCode] !== 'ids_of_another_message'

const receive = async (xml: string, over: Parameters<typeof inbound>[1] = {}) => {
  const resourceId = over.resourceId ?? fresh.resourceId()
  await worker.broker.publish([inbound(xml, { ...over, resourceId })])
  return storedWhen(database, 'resource_id', resourceId)
}
const sentNow = (id: string) => storedWhen(database, 'id', id)
const eventsOf = async (subject: string) => {
  const rows = await sql<{ type: string; data: string }[]>`
    select type, data from webhook_events where subject = ${subject} order by sequence`
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }))
}

describe('a received message', () => {
  test('is stored with both statuses, its transactions and without warnings, and told once', async () => {
    const endToEndId = fresh.endToEndId()
    const found = await receive(payment({ endToEndId }), { channel: 'SECONDARY' })
    expect(found).toMatchObject({
      type: 'pacs.008',
      status: 'PROCESSED',
      signature: 'NOT_CHECKED',
      warnings: [],
      history: ['RECEIVED', 'PROCESSED'],
      statuses: [null],
    })
    const [row] = await sql`
      select channel, source_ispb, destination_ispb, end_to_end_id, transaction_count
      from spi_messages where id = ${found.id}`
    expect(row).toEqual({
      channel: 'SECONDARY',
      source_ispb: '00038166',
      destination_ispb: ispb,
      end_to_end_id: endToEndId,
      transaction_count: 1,
    })
    const events = await eventsOf(endToEndId)
    expect(events).toMatchObject([
      {
        type: 'pacs.008',
        data: {
          message_id: found.id,
          status: 'PROCESSED',
          transactions: [{ end_to_end_id: endToEndId, amount: '10.50', creditor_ispb: ispb }],
        },
      },
    ])
    // As a word: a random identifier may well hold the letters.
    expect(JSON.stringify(events)).not.toMatch(/\bAna\b/)
  })

  test('has an effect once, by resource id and by business message id, in one batch and later', async () => {
    const endToEndId = fresh.endToEndId()
    const id = fresh.businessId()
    const resourceId = fresh.resourceId()
    const xml = payment({ endToEndId }, { id })
    const again = inbound(xml, { resourceId, key: 'k' })
    await worker.broker.publish([
      again,
      again,
      inbound(xml, { key: 'k' }),
      inbound(payment(), { resourceId, key: 'k' }),
    ])
    // Either of the two channels may be first: the second message comes when the first is there.
    await storedWhen(database, 'biz_msg_idr', id)
    await worker.broker.publish([again, inbound(xml, { channel: 'SECONDARY', key: 'k' })])
    await receive(payment(), { key: 'k' })
    await receive(payment(), { key: 'k', channel: 'SECONDARY' })
    expect((await eventsOf(endToEndId)).length).toBe(1)
    const [row] =
      await sql`select count(*)::int as count from spi_messages where resource_id = ${resourceId}`
    expect(row?.['count']).toBe(1)
  })

  test('that cannot be read is FAILED, keeps its bytes and is a dead letter; the others go on', async () => {
    const broken = '<Envelope><AppHdr>\u00e9'
    const resources = [fresh.resourceId(), fresh.resourceId(), fresh.resourceId()] as const
    const other = '<html xmlns="http://www.w3.org/1999/xhtml"/>'
    await worker.broker.publish([
      inbound(broken, { resourceId: resources[0], key: 'one' }),
      inbound(payment(), { resourceId: resources[1], key: 'one' }),
      inbound(other, { resourceId: resources[2], key: 'one' }),
    ])
    const failed = await storedWhen(database, 'resource_id', resources[0])
    expect(failed).toMatchObject({ type: null, status: 'FAILED', history: ['RECEIVED', 'FAILED'] })
    expect((await storedWhen(database, 'resource_id', resources[1])).status).toBe('PROCESSED')
    const foreign = await storedWhen(database, 'resource_id', resources[2])
    expect(foreign.errorCode).toBe('not_an_spi_message')
    await until(async () => (await letters()).filter(isUnreadable).length === 2)
    const [letter] = (await letters()).filter(isUnreadable)
    expect(letter?.headers).toMatchObject({
      'resource-id': resources[0],
      [deadLetterHeaders.topic]: topics.inboundPrimary,
      [deadLetterHeaders.group]: 'spi-worker',
      [deadLetterHeaders.errorCode]: failed.errorCode ?? 'none',
    })
    expect(Buffer.from(letter?.value ?? []).toString()).toBe(broken)
    const [row] = await sql<
      { xml: Uint8Array }[]
    >`select xml from spi_messages where id = ${failed.id}`
    expect(Buffer.from(Bun.zstdDecompressSync(row?.xml ?? new Uint8Array())).toString()).toBe(
      broken,
    )
  })
})

describe('an answer', () => {
  test('ends the payment it names, also before its sending was recorded', async () => {
    const endToEndId = fresh.endToEndId()
    const sent = await queued(database, 'pacs.008', [{ endToEndId }])
    const answer = await receive(report([{ endToEndId, status: 'ACSC' }]))
    expect(answer.warnings).toEqual([])
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'ACCEPTED',
      statuses: ['ACSC'],
      history: ['QUEUED', 'ACCEPTED'],
    })
    await changeStatuses(sql, [{ id: sent.id, status: 'SENT', resourceId: fresh.resourceId() }])
    expect((await sentNow(sent.id)).status).toBe('ACCEPTED')
    expect(await eventsOf(endToEndId)).toMatchObject([
      { type: 'pacs.002', data: { transactions: [{ status: 'ACSC' }] } },
      { type: 'message.status', data: { message_id: sent.id, status: 'ACCEPTED' } },
    ])
  })

  test('that refuses leaves its reason, and ends what was unknown', async () => {
    const endToEndId = fresh.endToEndId()
    const sent = await queued(database, 'pacs.008', [{ endToEndId }])
    await changeStatuses(sql, [{ id: sent.id, status: 'UNKNOWN' }])
    await receive(report([{ endToEndId, status: 'RJCT', reason: 'AC03' }]))
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'REJECTED',
      statuses: ['RJCT'],
      details: [null, null, 'AC03'],
    })
  })

  test('to some of several transactions decides when all are answered', async () => {
    const ids = [fresh.endToEndId(), fresh.endToEndId(), fresh.endToEndId()] as const
    const sent = await queued(
      database,
      'pacs.008',
      ids.map((endToEndId) => ({ endToEndId })),
    )
    await receive(report([{ endToEndId: ids[0], status: 'ACSC' }]))
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'QUEUED',
      statuses: ['ACSC', null, null],
    })
    const last = report([
      { endToEndId: ids[1], status: 'RJCT', reason: 'AM04' },
      { endToEndId: ids[2], status: 'ACSC' },
    ])
    expect((await receive(last)).warnings).toEqual([])
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'PARTIALLY_ACCEPTED',
      statuses: ['ACSC', 'RJCT', 'ACSC'],
      refusals: [null, 'AM04', null],
      details: [null, '1 of 3 refused: AM04'],
    })
  })

  test.each([
    ['before', 'ACSC', 'QUEUED', ['ACSC', null]],
    ['beside', 'ACSC', 'QUEUED', ['ACSC', null]],
    ['before', 'RJCT', 'REJECTED', ['RJCT', null]],
  ] as const)(
    'as a whole refuses no message of which it said %s that a part is %s',
    async (when, part, status, statuses) => {
      const ids = [fresh.endToEndId(), fresh.endToEndId()] as const
      const parts = ids.map((endToEndId) => ({ endToEndId }))
      const sent = await queued(database, 'pacs.008', parts)
      const said = report([{ endToEndId: ids[0], status: part }])
      const [first, second] = [fresh.resourceId(), fresh.resourceId()]
      if (when === 'before') {
        await receive(said)
        await receive(refusal(sent.bizMsgIdr))
      } else {
        await worker.broker.publish([
          inbound(refusal(sent.bizMsgIdr), { resourceId: first, key: 'one' }),
          inbound(said, { resourceId: second, key: 'one' }),
        ])
        for (const id of [first, second]) await storedWhen(database, 'resource_id', id)
      }
      expect(await sentNow(sent.id)).toMatchObject({ status, statuses })
    },
  )

  test('tells the reasons of all that were refused, whenever that was', async () => {
    const ids = [fresh.endToEndId(), fresh.endToEndId(), fresh.endToEndId()] as const
    const sent = await queued(
      database,
      'pacs.008',
      ids.map((endToEndId) => ({ endToEndId })),
    )
    await receive(report([{ endToEndId: ids[0], status: 'RJCT', reason: 'AC03' }]))
    await receive(report([{ endToEndId: ids[1], status: 'RJCT', reason: 'AB03' }]))
    await receive(report([{ endToEndId: ids[2], status: 'ACSC' }]))
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'PARTIALLY_ACCEPTED',
      details: [null, '2 of 3 refused: AB03, AC03'],
    })
  })

  test('to a reply of several payments ends it when all are reported on', async () => {
    const all = [fresh.endToEndId(), fresh.endToEndId(), fresh.endToEndId()].map((endToEndId) => ({
      endToEndId,
      instructionId: endToEndId,
      status: 'ACSP',
    }))
    const sent = await queued(database, 'pacs.002', all)
    await changeStatuses(sql, [{ id: sent.id, status: 'SENT' }])
    await receive(report([{ ...all[0]!, status: 'ACCC' }]))
    await receive(report([{ ...all[2]!, status: 'RJCT', reason: 'AB03' }]))
    expect((await sentNow(sent.id)).status).toBe('SENT')
    const last = { ...all[1]!, status: 'ACCC' }
    await receive(report([last]))
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'PARTIALLY_ACCEPTED',
      statuses: ['ACSP', 'ACSP', 'ACSP'],
      details: [null, null, '1 of 3 refused: AB03'],
    })
    expect((await receive(report([last]))).warnings).toEqual([])
  })

  test('to every transaction at once, all refused, refuses the message', async () => {
    const ids = [fresh.endToEndId(), fresh.endToEndId()] as const
    const sent = await queued(
      database,
      'pacs.008',
      ids.map((endToEndId) => ({ endToEndId })),
    )
    await receive(report(ids.map((endToEndId) => ({ endToEndId, status: 'RJCT', reason: 'AB03' }))))
    expect(await sentNow(sent.id)).toMatchObject({
      status: 'REJECTED',
      details: [null, '2 of 2 refused: AB03'],
    })
  })

  test('by several workers at the same time, one per transaction, decides exactly once', async () => {
    const second = await workerOn(database)
    await second.feature.start?.()
    const ids = Array.from({ length: 20 }, fresh.endToEndId)
    const sent = await queued(
      database,
      'pacs.008',
      ids.map((endToEndId) => ({ endToEndId })),
    )
    await Promise.all(
      ids.map((endToEndId) =>
        worker.broker.publish([
          inbound(report([{ endToEndId, status: 'ACSC' }]), { key: endToEndId }),
        ]),
      ),
    )
    const found = await storedWhen(database, 'id', sent.id, ({ status }) => status !== 'QUEUED')
    expect(found).toMatchObject({ status: 'ACCEPTED', history: ['QUEUED', 'ACCEPTED'] })
    expect(new Set(found.statuses)).toEqual(new Set(['ACSC']))
    await second.stop()
  })

  test('that comes twice changes nothing; one that contradicts is stored with a warning', async () => {
    const endToEndId = fresh.endToEndId()
    const sent = await queued(database, 'pacs.008', [{ endToEndId }])
    await receive(report([{ endToEndId, status: 'ACSC' }]))
    expect((await receive(report([{ endToEndId, status: 'ACSC' }]))).warnings).toEqual([])
    const late = await receive(report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))
    expect(late).toMatchObject({
      status: 'PROCESSED',
      warnings: [{ rule: 'Answer', message: 'contradicts an earlier answer' }],
    })
    expect(await sentNow(sent.id)).toMatchObject({ status: 'ACCEPTED', statuses: ['ACSC'] })
  })

  test('that settles what was refused before is stored with a warning, and the payment stays refused', async () => {
    const endToEndId = fresh.endToEndId()
    const sent = await queued(database, 'pacs.008', [{ endToEndId }])
    await receive(report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))
    expect(await receive(report([{ endToEndId, status: 'ACSC' }]))).toMatchObject({
      status: 'PROCESSED',
      warnings: [{ rule: 'Answer', message: 'contradicts an earlier answer' }],
    })
    expect(await sentNow(sent.id)).toMatchObject({ status: 'REJECTED', statuses: ['RJCT'] })
  })

  test('to something unknown is stored with a warning', async () => {
    for (const xml of [
      report([{ endToEndId: fresh.endToEndId(), status: 'ACSC' }]),
      refusal(fresh.businessId(ispb)),
      refusal(fresh.resourceId()),
    ]) {
      expect(await receive(xml)).toMatchObject({
        status: 'PROCESSED',
        warnings: [{ rule: 'Answer', message: 'answers a message that is not known' }],
      })
    }
  })

  test('names a return by its RtrId, not the payment with the same EndToEndId', async () => {
    const endToEndId = fresh.endToEndId()
    const returnId = fresh.returnId()
    const sent = await queued(database, 'pacs.008', [{ endToEndId }])
    const returned = await queued(database, 'pacs.004', [{ endToEndId, instructionId: returnId }])
    await receive(report([{ endToEndId, instructionId: returnId, status: 'RJCT', reason: 'AM09' }]))
    expect((await sentNow(returned.id)).status).toBe('REJECTED')
    expect((await sentNow(sent.id)).status).toBe('QUEUED')
  })

  test('ends our own answer to a payment received, which stays what we said', async () => {
    const accepted = fresh.endToEndId()
    const refused = fresh.endToEndId()
    const timedOut = fresh.endToEndId()
    const own = async (endToEndId: string, status: string) =>
      (await queued(database, 'pacs.002', [{ endToEndId, instructionId: endToEndId, status }])).id
    const ids = [
      await own(accepted, 'ACSP'),
      await own(refused, 'RJCT'),
      await own(timedOut, 'ACSP'),
    ]
    await receive(
      report([
        { endToEndId: accepted, status: 'ACCC' },
        { endToEndId: refused, status: 'RJCT', reason: 'AC03' },
        { endToEndId: timedOut, status: 'RJCT', reason: 'AB03' },
      ]),
    )
    const found = await Promise.all(ids.map(sentNow))
    expect(found.map(({ status }) => status)).toEqual(['ACCEPTED', 'ACCEPTED', 'REJECTED'])
    expect(found.map(({ statuses }) => statuses)).toEqual([['ACSP'], ['RJCT'], ['ACSP']])
  })

  test('admi.002 refuses by BizMsgIdr and by PI-ResourceId', async () => {
    const byId = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
    const byResource = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
    const resourceId = fresh.resourceId()
    await changeStatuses(sql, [{ id: byResource.id, status: 'SENT', resourceId }])
    await worker.broker.publish([
      inbound(refusal(byId.bizMsgIdr)),
      inbound(refusal(resourceId, 'bad character')),
    ])
    const isRefused = ({ status }: { status: string }) => status === 'REJECTED'
    expect((await storedWhen(database, 'id', byId.id, isRefused)).details).toEqual([null, 'schema'])
    const other = await storedWhen(database, 'id', byResource.id, isRefused)
    expect(other.details).toEqual([null, null, 'bad character'])
  })

  test('pain.014, camt.029, camt.025 and reda.016 answer what they answer', async () => {
    const schedule = fresh.endToEndId()
    const cancelled = fresh.endToEndId()
    const sent = [
      await queued(database, 'pain.013', [{ endToEndId: schedule }]),
      await queued(database, 'camt.055', [{ endToEndId: cancelled }]),
      await queued(database, 'trck.002', [{}]),
      await queued(database, 'reda.014', []),
    ] as const
    await receive(
      envelope(
        'pain.014',
        '2.3',
        `<CdtrPmtActvtnReqStsRpt><OrgnlPmtInfAndSts><OrgnlPmtInfId>P1</OrgnlPmtInfId><TxInfAndSts><OrgnlEndToEndId>${schedule}</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Prtry>FCD1</Prtry></Rsn></StsRsnInf></TxInfAndSts></OrgnlPmtInfAndSts></CdtrPmtActvtnReqStsRpt>`,
      ),
    )
    await receive(
      envelope(
        'camt.029',
        '1.1',
        `<RsltnOfInvstgtn><CxlDtls><OrgnlPmtInfAndSts><OrgnlPmtInfCxlId>C1</OrgnlPmtInfCxlId><PmtInfCxlSts>RJCR</PmtInfCxlSts><CxlStsRsnInf><Rsn><Prtry>PRJL</Prtry></Rsn></CxlStsRsnInf><TxInfAndSts><OrgnlEndToEndId>${cancelled}</OrgnlEndToEndId></TxInfAndSts></OrgnlPmtInfAndSts></CxlDtls></RsltnOfInvstgtn>`,
      ),
    )
    await receive(
      envelope(
        'camt.025',
        '1.0',
        `<Rct><RctDtls><OrgnlMsgId><MsgId>${sent[2].bizMsgIdr}</MsgId></OrgnlMsgId><ReqHdlg><Sts><Cd>ACPT</Cd></Sts></ReqHdlg></RctDtls></Rct>`,
      ),
    )
    await receive(
      envelope(
        'reda.016',
        '1.5',
        `<PtyStsAdvc><MsgHdr><OrgnlBizInstr><MsgId>${sent[3].bizMsgIdr}</MsgId></OrgnlBizInstr></MsgHdr><PtySts><Sts>REJT</Sts><StsRsn><Rsn><Prtry>CP10</Prtry></Rsn></StsRsn></PtySts></PtyStsAdvc>`,
      ),
    )
    const found = await Promise.all(sent.map(({ id }) => sentNow(id)))
    expect(found.map(({ status, details }) => [status, details.at(-1)])).toEqual([
      ['REJECTED', 'FCD1'],
      ['REJECTED', 'PRJL'],
      ['ACCEPTED', null],
      ['REJECTED', 'CP10'],
    ])
  })
})

describe('SPI_AUTO_ACCEPT', () => {
  test('is off by default; on, it queues ACSP for payments and returns on their channel', async () => {
    const other = await createTestDatabase()
    const accepting = await workerOn(other, { autoAccept: true })
    await accepting.feature.start?.()
    const outbound: Delivery[] = []
    accepting.broker.consume({
      topic: topics.outbound,
      group: 'test',
      batchSizeMax: 10,
      handler: async (batch) => {
        outbound.push(...batch)
      },
    })
    const endToEndId = fresh.endToEndId()
    const returnId = fresh.returnId()
    await accepting.broker.publish([
      inbound(payment({ endToEndId }), { channel: 'SECONDARY' }),
      inbound(paymentReturn(fresh.endToEndId(), returnId)),
    ])
    await until(() => outbound.length === 2)
    const texts = outbound.map(({ value }) => Buffer.from(value).toString()).join()
    expect(texts).toContain(`<OrgnlInstrId>${endToEndId}</OrgnlInstrId>`)
    expect(texts).toContain(`<OrgnlInstrId>${returnId}</OrgnlInstrId>`)
    expect(outbound.map(({ headers }) => headers[outboundHeaders.channel]).sort()).toEqual([
      'PRIMARY',
      'SECONDARY',
    ])
    const id = outbound[0]?.headers[outboundHeaders.messageId] ?? ''
    expect(await storedWhen(other, 'id', id)).toMatchObject({ status: 'QUEUED', type: 'pacs.002' })
    await accepting.stop()
    await other.close()
    const [row] = await sql`
      select count(*)::int as count from spi_messages where type = 'pacs.002' and status = 'QUEUED'`
    expect(row?.['count']).toBe(0)
  })
})

test('the metrics count what was processed, by type, direction and status', async () => {
  const { text } = await worker.metrics.render()
  for (const line of [
    /spigw_messages_processed_total\{type="pacs.008",direction="INBOUND",status="PROCESSED"\} \d/,
    /spigw_messages_processed_total\{type="unknown",direction="INBOUND",status="FAILED"\} 2/,
    /spigw_messages_processed_total\{type="pacs.008",direction="OUTBOUND",status="REJECTED"\} \d/,
    /spigw_inbound_duplicates_total [1-9]/,
    /spigw_worker_batch_messages_count [1-9]/,
  ]) {
    expect(text).toMatch(line)
  }
})

import { afterAll } from 'bun:test'
import { spiIspb } from '#codecs/iso20022'
import {
  createPostgresBroker,
  type OutgoingMessage,
  type TransactionalBroker,
} from '#src/platform/broker/index.ts'
import { createMetrics } from '#src/platform/observe/index.ts'
import { inboundHeaders, inboundTopics } from '#src/spi/in/pull/index.ts'
import { createWorker, type WorkerDeps, type WorkerSettings } from '#src/spi/in/worker/index.ts'
import { type Channel, enqueueMessages, type MessageTransaction } from '#src/spi/messages/index.ts'
import { emitEvents } from '#src/webhooks/index.ts'
import { quietLogger, type TestDatabase } from '../../../support/database.ts'
import { utf8 } from '../../../support/messages.ts'

export const ispb = '12345678'
const bank = spiIspb

let serial = 0
const unique = (length: number): string => String(++serial).padStart(length, '0')

/** This minute in UTC, as ids tell it. */
const minute = (): string => new Date().toISOString().replace(/\D/g, '').slice(0, 12)

/** Ids of the proper forms, of now, none twice in a run. */
export const fresh = {
  businessId: (from = bank): string => `M${from}${unique(23)}`,
  endToEndId: (): string => `E${ispb}${minute()}${unique(11)}`,
  returnId: (): string => `D${ispb}${minute()}${unique(11)}`,
  resourceId: (): string => `UEk${unique(29)}`,
}

type Header = {
  readonly from?: string
  readonly to?: string
  readonly id?: string
  readonly definition?: string
  readonly created?: string
}

const party = (tag: string, id: string): string =>
  `<${tag}><FIId><FinInstnId><Othr><Id>${id}</Id></Othr></FinInstnId></FIId></${tag}>`

export const envelope = (
  type: string,
  version: string,
  body: string,
  header: Header = {},
): string => {
  const { from = bank, to = ispb, id = fresh.businessId(from) } = header
  const created = header.created ?? new Date().toISOString()
  const definition = header.definition ?? `${type}.spi.${version}`
  return `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="https://www.bcb.gov.br/pi/${type}/${version}"><AppHdr>${party('Fr', from)}${party('To', to)}<BizMsgIdr>${id}</BizMsgIdr><MsgDefIdr>${definition}</MsgDefIdr><CreDt>${created}</CreDt><Sgntr></Sgntr></AppHdr><Document>${body}</Document></Envelope>`
}

export type Report = {
  readonly endToEndId: string
  readonly instructionId?: string
  readonly status: string
  readonly reason?: string
}

export const report = (all: readonly Report[], header: Header = {}): string => {
  const transactions = all.map(({ endToEndId, instructionId = endToEndId, status, reason }) => {
    const why = reason === undefined ? '' : `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn></StsRsnInf>`
    return `<TxInfAndSts><OrgnlInstrId>${instructionId}</OrgnlInstrId><OrgnlEndToEndId>${endToEndId}</OrgnlEndToEndId><TxSts>${status}</TxSts>${why}</TxInfAndSts>`
  })
  return envelope(
    'pacs.002',
    '1.14',
    `<FIToFIPmtStsRpt><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T14:05:10.000Z</CreDtTm></GrpHdr>${transactions.join('')}</FIToFIPmtStsRpt>`,
    header,
  )
}

const agent = (tag: string, id: string): string =>
  `<${tag}><FinInstnId><ClrSysMmbId><MmbId>${id}</MmbId></ClrSysMmbId></FinInstnId></${tag}>`
const account = (tag: string, proxy = ''): string =>
  `<${tag}><Id><Othr><Id>1</Id></Othr></Id><Tp><Cd>CACC</Cd></Tp>${proxy}</${tag}>`
const person = (tag: string, name = ''): string =>
  `<${tag}>${name}<Id><PrvtId><Othr><Id>12345678909</Id></Othr></PrvtId></Id></${tag}>`

export type PaymentParts = {
  readonly endToEndId?: string
  readonly amount?: string
  readonly instrument?: string
  readonly proxy?: string
  readonly transactionId?: string
  readonly purpose?: string
  /** RmtInf. */
  readonly remittance?: string
}

const transfer = (parts: PaymentParts): string => {
  const { endToEndId = fresh.endToEndId(), amount = '10.50', instrument = 'DICT' } = parts
  const {
    proxy = '<Prxy><Id>chave</Id></Prxy>',
    transactionId = '',
    purpose = 'IPAY',
    remittance = '',
  } = parts
  return `<CdtTrfTxInf><PmtId><EndToEndId>${endToEndId}</EndToEndId>${transactionId}</PmtId><IntrBkSttlmAmt Ccy="BRL">${amount}</IntrBkSttlmAmt><AccptncDtTm>2026-03-02T14:05:00.000Z</AccptncDtTm><ChrgBr>SLEV</ChrgBr><MndtRltdInf><Tp><LclInstrm><Prtry>${instrument}</Prtry></LclInstrm></Tp></MndtRltdInf>${person('Dbtr', '<Nm>Ana</Nm>')}${account('DbtrAcct')}${agent('DbtrAgt', '99999010')}${agent('CdtrAgt', ispb)}${person('Cdtr')}${account('CdtrAcct', proxy)}<Purp><Cd>${purpose}</Cd></Purp>${remittance}</CdtTrfTxInf>`
}

export const payment = (
  parts: PaymentParts | readonly PaymentParts[] = {},
  header: Header = {},
  group: { readonly count?: string; readonly priority?: string; readonly level?: string } = {},
): string => {
  const all = 'length' in parts ? parts : [parts]
  const { count = String(all.length), priority = 'HIGH', level = 'PAGPRI' } = group
  return envelope(
    'pacs.008',
    '1.13',
    `<FIToFICstmrCdtTrf><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm><NbOfTxs>${count}</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf><PmtTpInf><InstrPrty>${priority}</InstrPrty><SvcLvl><Prtry>${level}</Prtry></SvcLvl></PmtTpInf></GrpHdr>${all.map(transfer).join('')}</FIToFICstmrCdtTrf>`,
    header,
  )
}

export const paymentReturn = (endToEndId: string, returnId: string, reason = 'MD06'): string =>
  envelope(
    'pacs.004',
    '1.5',
    `<PmtRtr><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-02T15:00:00.000Z</CreDtTm><NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr><TxInf><RtrId>${returnId}</RtrId><OrgnlEndToEndId>${endToEndId}</OrgnlEndToEndId><RtrdIntrBkSttlmAmt Ccy="BRL">12.30</RtrdIntrBkSttlmAmt><SttlmPrty>HIGH</SttlmPrty><ChrgBr>SLEV</ChrgBr><RtrRsnInf><Rsn><Cd>${reason}</Cd></Rsn></RtrRsnInf><OrgnlTxRef>${agent('DbtrAgt', '99999010')}${agent('CdtrAgt', ispb)}</OrgnlTxRef></TxInf></PmtRtr>`,
  )

export const refusal = (reference: string, reason = 'schema'): string =>
  envelope(
    'admi.002',
    '1.5',
    `<admi.002.001.01><RltdRef><Ref>${reference}</Ref></RltdRef><Rsn><RjctgPtyRsn>${reason}</RjctgPtyRsn></Rsn></admi.002.001.01>`,
  )

/** As INBOUND_PULL publishes it. */
export const inbound = (
  xml: string,
  over: { readonly resourceId?: string; readonly channel?: Channel; readonly key?: string } = {},
): OutgoingMessage => {
  const { resourceId = fresh.resourceId(), channel = 'PRIMARY', key } = over
  return {
    topic: inboundTopics[channel],
    key,
    value: utf8(xml),
    headers: {
      [inboundHeaders.resourceId]: resourceId,
      [inboundHeaders.channel]: channel,
      [inboundHeaders.receivedAt]: new Date().toISOString(),
    },
  }
}

type WorkerOptions = Partial<WorkerSettings> &
  Partial<Pick<WorkerDeps, 'receivables' | 'recurrences' | 'slowBackoff' | 'logger'>> & {
    readonly wrap?: (broker: TransactionalBroker) => TransactionalBroker
  }

/** A worker on a broker of its own, and what the database then holds. */
export const workerOn = async ({ sql, dsn }: TestDatabase, options: WorkerOptions = {}) => {
  const { receivables, recurrences, slowBackoff, logger = quietLogger, wrap, ...settings } = options
  const made = createPostgresBroker({ sql, dsn, logger: quietLogger })
  const broker = wrap?.(made) ?? made
  await broker.start()
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const feature = createWorker({
    sql,
    broker,
    settings: {
      trustedCertificates: undefined,
      signaturePolicy: 'enforce',
      autoAccept: false,
      ...settings,
    },
    ispb,
    revision: '5.10.1',
    emitEvents,
    receivables,
    recurrences,
    ...(slowBackoff === undefined ? {} : { slowBackoff }),
    logger,
    metrics,
  })
  return {
    broker,
    metrics,
    feature,
    stop: async () => {
      await feature.drain?.()
      await feature.stop?.()
      await broker.stop()
    },
  }
}

/** One that runs until the tests of the file are over, and then ends with its database. */
export const runningWorker = async (database: TestDatabase, options?: WorkerOptions) => {
  const worker = await workerOn(database, options)
  await worker.feature.start?.()
  afterAll(async () => {
    await worker.stop()
    await database.close()
  })
  return worker
}

export type Stored = {
  readonly id: string
  readonly type: string | null
  readonly status: string
  readonly errorCode: string | null
  readonly signature: string
  readonly warnings: readonly { readonly rule: string; readonly message: string }[]
  readonly history: readonly string[]
  readonly details: readonly (string | null)[]
  readonly statuses: readonly (string | null)[]
  readonly refusals: readonly (string | null)[]
}

const stored = async (
  { sql }: TestDatabase,
  by: 'resource_id' | 'biz_msg_idr' | 'id',
  value: string,
): Promise<Stored | undefined> => {
  const rows = await sql<Stored[]>`
    select m.id, m.type, m.status, m.error_code as "errorCode", m.signature,
      coalesce(m.warnings, '[]'::jsonb) as warnings,
      to_jsonb(array(select h.status from spi_history h where h.message_id = m.id order by position)) as history,
      to_jsonb(array(select h.detail from spi_history h where h.message_id = m.id order by position)) as details,
      to_jsonb(array(select t.status from spi_transactions t where t.message_id = m.id order by position)) as statuses,
      to_jsonb(array(select t.refusal from spi_transactions t where t.message_id = m.id order by position)) as refusals
    from spi_messages m where ${sql(`m.${by}`)} = ${value}`
  if (rows.length > 1) throw new Error(`${rows.length} messages with ${by} ${value}`)
  return rows[0]
}

/** Waits for a message to be stored as the condition wants it. */
export const storedWhen = async (
  database: TestDatabase,
  by: 'resource_id' | 'biz_msg_idr' | 'id',
  value: string,
  holds: (one: Stored) => boolean = () => true,
): Promise<Stored> => {
  const end = performance.now() + 40_000
  for (;;) {
    const one = await stored(database, by, value)
    if (one !== undefined && holds(one)) return one
    if (performance.now() > end) throw new Error(`${value} is ${JSON.stringify(one)}`)
    await Bun.sleep(10)
  }
}

/** Tells a worker of messages, each stored before the next is told. */
export const tellingOf =
  (database: TestDatabase, worker: Awaited<ReturnType<typeof workerOn>>) =>
  async (xml: string, by = worker): Promise<void> => {
    const resourceId = fresh.resourceId()
    await by.broker.publish([inbound(xml, { resourceId })])
    await storedWhen(database, 'resource_id', resourceId)
  }

/** The same for several documents, one after the other. */
export const receivingOf = (...[database, worker]: Parameters<typeof tellingOf>) => {
  const tell = tellingOf(database, worker)
  return async (...documents: readonly (string | Uint8Array)[]): Promise<void> => {
    for (const xml of documents) await tell(Buffer.from(xml).toString())
  }
}

const transactionOf = (over: Partial<MessageTransaction>): MessageTransaction => ({
  endToEndId: undefined,
  instructionId: undefined,
  amountCents: 1050n,
  debtorIspb: ispb,
  creditorIspb: '99999010',
  status: undefined,
  ...over,
})

/** Stores a message of ours as QUEUED, as the sending endpoint does. */
export const queued = async (
  { sql }: TestDatabase,
  type: string,
  transactions: readonly Partial<MessageTransaction>[],
): Promise<{ readonly id: string; readonly bizMsgIdr: string }> => {
  const id = Bun.randomUUIDv7()
  const bizMsgIdr = fresh.businessId(ispb)
  const place = { from: 0, to: 1 }
  await enqueueMessages(sql, { publishIn: async () => {} }, [
    {
      id,
      type,
      definition: `${type}.spi.1.0`,
      channel: 'PRIMARY',
      sourceIspb: ispb,
      destinationIspb: bank,
      bizMsgIdr,
      transactions: transactions.map(transactionOf),
      envelope: {
        bytes: utf8(`<sent type="${type}"/>`),
        namespace: 'n',
        appHdr: place,
        signatureAt: 1,
        document: place,
      },
    },
  ])
  return { id, bizMsgIdr }
}

import { insertMessages } from '#src/spi/messages/index.ts'
import { fresh, payment } from '../spi/in/worker/support.ts'
import { message } from '../spi/messages/support.ts'
import type { TestDatabase } from '../support/database.ts'
import { farYear } from '../support/far-year.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import { until } from '../support/until.ts'
import type { SeenConsole } from './visit.ts'

/** Stores a settled Pix of R$ 10.50 to this institution. @returns the id of its message */
export const receivedPix = async (
  sql: TestDatabase['sql'],
): Promise<{ readonly id: string; readonly endToEndId: string }> => {
  const endToEndId = fresh.endToEndId()
  const stored = message({ xml: Buffer.from(payment({ endToEndId })) })
  const [paid] = stored.transactions.map((one) => ({ ...one, endToEndId, amountCents: 1_050n }))
  if (paid === undefined) throw new Error('a payment has a transaction')
  const settledBy = { ...paid, instructionId: endToEndId, status: 'ACCC', settledAt: new Date() }
  await insertMessages(sql, [
    { ...stored, transactions: [paid] },
    message({ type: 'pacs.002', definition: 'pacs.002.spi.1.14', transactions: [settledBy] }),
  ])
  return { id: stored.id, endToEndId }
}

const receiverKey = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'
const debtor = { cpf: '45164632481', nome: 'Fulano' }

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Api = (method: string, path: string, body?: object) => Promise<any>

export const apiOf =
  (url: string, key: string): Api =>
  async (method, path, body) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const told = await answer.json()
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(told)}`)
    return told
  }

/** Makes one of each kind of the API Pix. @returns the paths of their pages */
export const seedCharges = async (
  { urls, database: { sql } }: GatewayHere,
  key: string,
): Promise<readonly string[]> => {
  const api = apiOf(urls.httpUrl, key)
  await api('PUT', '/v1/pix/receivers', {
    key: receiverKey,
    name: 'Padaria',
    city: 'Sao Paulo',
    tax_id: '12345678000195',
    street: 'Rua A, 1',
    state: 'SP',
    postal_code: '01001000',
  })
  const charge = { valor: { original: '10.00' }, chave: receiverKey, devedor: debtor }
  const cob = await api('POST', '/pix/v2/cob', { ...charge, solicitacaoPagador: 'Pedido' })
  const due = `due${'0'.repeat(29)}`
  await api('PUT', `/pix/v2/cobv/${due}`, {
    ...charge,
    calendario: { dataDeVencimento: '2030-01-01' },
    devedor: { ...debtor, logradouro: 'Rua', cidade: 'Sao Paulo', uf: 'SP', cep: '01001000' },
  })
  const { id: location } = await api('POST', '/pix/v2/locrec')
  const { idRec } = await api('POST', '/pix/v2/rec', {
    vinculo: { contrato: 'C-1', objeto: 'Academia', devedor: debtor },
    calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
    valor: { valorRec: '35.00' },
    politicaRetentativa: 'PERMITE_3R_7D',
    loc: location,
  })
  const { idSolicRec } = await api('POST', '/pix/v2/solicrec', {
    idRec,
    calendario: { dataExpiracaoSolicitacao: new Date(Date.now() + 86_400_000).toISOString() },
    destinatario: { cpf: debtor.cpf, conta: '550689', ispbParticipante: '91193552' },
  })
  await sql`update pix_recurrences set status = 'APROVADA', payer = ${JSON.stringify({
    taxId: debtor.cpf,
    ispb: '91193552',
    account: '550689',
    branch: null,
    town: null,
  })} where id = ${idRec}`
  const { txid } = await api('POST', '/pix/v2/cobr', {
    idRec,
    calendario: { dataDeVencimento: `${farYear}-01-20` },
    valor: { original: '35.00' },
    recebedor: { conta: '19682', tipoConta: 'CORRENTE' },
  })
  const endToEndId = fresh.endToEndId()
  await sql`
    insert into pix_received (end_to_end_id, account, key, txid, amount_cents, payer_tax_id, info,
      status, refusal, received_at, settled_at, has_returns)
    values (${endToEndId}, 'default', ${receiverKey}, 'abc', 1050, ${debtor.cpf}, 'info',
      'LIQUIDADO', 'x', now(), now(), true)`
  await sql`
    insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, description, status,
      reason, requested_at)
    values (${endToEndId}, 'r1', 'D1', 100, 'ORIGINAL', 'x', 'DEVOLVIDO', 'x', now())`
  return [
    ...[`/charges/cob/${cob.txid}`, `/charges/cobv/${due}`, `/charges/pix/${endToEndId}`],
    ...[`/charges/rec/${idRec}`, `/charges/cobr/${txid}`, `/charges/solicrec/${idSolicRec}`],
  ]
}

/** Stores a delivery of bonds that was commanded, and an active lien. */
export const seedDeliveryAndLien = async (
  sql: TestDatabase['sql'],
  acronym: string,
): Promise<void> => {
  const [here, there] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
  const delivery = {
    number: '77',
    seller: here,
    buyer: there,
    bond: there,
    bondId: '1',
    acronym,
    code: '100000',
    maturity: 1_924_992_000,
    amount: '1000',
    unitPrice: '99412345678',
    money: here,
    price: '994123',
  }
  const lien = {
    token: here,
    decimals: 2,
    owner: there,
    beneficiary: here,
    amount: '50000',
    documentHash: `0x${'cc'.repeat(32)}`,
    expiry: 1_924_992_000,
    admission: null,
    isOurs: false,
  }
  const common = { network: 'drex_testnet', contract: there, wallet: here, created_by: 'test' }
  const state = (status: string) => ({ status, hash: null, error: null })
  await sql`insert into drex_agreements ${sql([
    {
      ...common,
      id: 'a-delivery',
      kind: 'delivery',
      status: 'commanded',
      part: 'seller',
      terms: sql.json(delivery),
      state: sql.json(state('commanded')),
      account: 'default',
    },
    {
      ...common,
      id: 'a-lien',
      kind: 'lien',
      status: 'active',
      part: 'beneficiary',
      account: 'default',
      terms: sql.json(lien),
      state: sql.json({ ...state('active'), pledged: '50000' }),
    },
  ])}`
}

/** Stores a delivery of bonds, a lien, an operation and a watched wallet. @returns the paths of their pages */
export const seedAgreements = async (sql: TestDatabase['sql']): Promise<readonly string[]> => {
  await seedDeliveryAndLien(sql, 'ltn')
  await sql`
    insert into drex_watches (id, address, label, metadata, created_by)
    values ('a-watch', ${`0x${'c3'.repeat(20)}`}, 'x', '{}', 'test')`
  await sql`
    insert into drex_agreement_events (agreement_id, network, block_number, log_index, hash, name, args)
    values ('a-delivery', 'drex_testnet', 1, 0, ${`0x${'dd'.repeat(32)}`}, 'Settled', '{}')`
  await sql`
    insert into drex_operations (id, kind, transaction_id, network, signer, params, account, created_by)
    select 'an-operation', 'mint', id, network, sender, '{}', 'default', 'test'
    from drex_transactions limit 1`
  return ['/currency/deliveries/a-delivery', '/currency/liens/a-lien']
}

const [ispb, other] = ['12345678', '99999A04']

/** Others claim a key of ours, report a payment to us and ask for its money. */
export const askUs = async (
  { gateway, directory }: Pick<SeenConsole, 'gateway' | 'directory'>,
  key: string,
  owner: { readonly tax_id: string; readonly name: string },
  details: string,
): Promise<{ readonly key: string; readonly payment: string }> => {
  const claimed = `ana${Date.now()}@example.com`
  await apiOf(gateway.urls.httpUrl, key)('POST', '/v1/dict/entries', {
    key_type: 'EMAIL',
    key: claimed,
    owner,
    account: { number: '500100', type: 'CACC', opened_at: '2020-01-10T03:00:00Z' },
  })
  directory.claim({
    type: 'PORTABILITY',
    key_type: 'EMAIL',
    key: claimed,
    ...owner,
    ispb: other,
    account: '777',
    account_type: 'CACC',
  })
  const { endToEndId: payment } = await receivedPix(gateway.database.sql)
  const { addTransaction, infractions, refunds } = directory.disputes
  addTransaction({
    id: payment,
    debited: other,
    credited: ispb,
    amountCents: 1_050n,
    settledMs: Date.now(),
  })
  const report = { transactionId: payment, reason: 'REFUND_REQUEST', situation: 'SCAM' }
  infractions.create({ ...report, details, contact: undefined }, other)
  const request = { transactionId: payment, reason: 'OPERATIONAL_FLAW', amountCents: 1_050n }
  refunds.create({ ...request, details }, other)
  return { key: claimed, payment }
}

/** Stores what others ask of us. @returns the paths of its pages */
export const seedDirectory = async (seen: SeenConsole, key: string): Promise<readonly string[]> => {
  await askUs(seen, key, { tax_id: '98765432100', name: 'Ana' }, 'Golpe')
  const { sql } = seen.gateway.database
  const places = async (): Promise<readonly string[]> => {
    const found = await sql<{ place: string }[]>`
      select 'claims/' || id as place from dict_claims union all
      select case kind when 'refund' then 'refunds/' else 'infraction-reports/' end || id
      from dict_disputes`
    return found.map(({ place }) => `/pix-keys/${place}`)
  }
  await until(async () => (await places()).length === 3)
  return places()
}

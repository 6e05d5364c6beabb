import { build } from '../../support/participant.ts'
import { ispb } from '../in/worker/support.ts'

type Entry = {
  readonly endToEndId: string
  readonly cents?: number
  readonly direction?: 'CRDT' | 'DBIT'
  readonly returnId?: string
  readonly requestId?: string
  readonly isMissing?: boolean
  readonly day?: string
  readonly status?: 'BOOK' | 'INFO'
}

/** A camt.054 as the SPI writes it. */
export const notification = (entry: Entry): Uint8Array =>
  build('00038166', 'CAMT054', {
    ...(entry.requestId === undefined ? {} : { notification_id: entry.requestId }),
    account_ispb: ispb,
    amount: entry.cents ?? 1_050,
    direction: entry.direction ?? 'CRDT',
    status: entry.status ?? 'BOOK',
    booking_date: entry.day ?? '2026-03-02',
    domain: 'PMNT',
    family: 'RRCT',
    sub_family: entry.returnId === undefined ? 'DMCT' : 'RRTN',
    end_to_end_id: entry.endToEndId,
    origin_message: entry.returnId === undefined ? 'pacs.008' : 'pacs.004',
    ...(entry.returnId === undefined ? {} : { instruction_id: entry.returnId }),
    ...(entry.isMissing === true ? { error_code: 'NF01', error_description: 'None' } : {}),
  })

/** One camt.054 with the entries of several. */
export const withEntries = (documents: readonly Uint8Array[]): string => {
  const [first = '', ...more] = documents.map((bytes) => Buffer.from(bytes).toString())
  const entries = more.map((xml) => /<Ntfctn>.*<\/Ntfctn>/s.exec(xml)?.[0] ?? '')
  return first.replace('</Ntfctn>', `</Ntfctn>${entries.join('')}`)
}

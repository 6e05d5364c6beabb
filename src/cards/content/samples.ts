import { byKind } from '../reconciliation/totals.ts'
import type { MessageName } from './form.ts'
import type { KeptPlace } from './keep.ts'
import { entries, type Facts, initiators, installmentPlans, storedReasons } from './sources.ts'

const panDigitsMax = 19
const largest = { count: 9_999_999_999, cents: 9_999_999_999_999_999n }
const sampleTotals = {
  settlementDate: '1231',
  isUploaded: true,
  totals: {
    ...byKind(() => largest),
    authorizations: largest.count,
  },
}
const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T

/** The longest values of all that a message may be made of, for each kind of entry, without a card of anybody. */
export const sampleFacts = (
  kept: ReadonlyMap<string, KeptPlace>,
  name: MessageName,
): readonly Facts[] =>
  entries.map((entry, at) => ({
    pan: new Uint8Array(panDigitsMax).fill(0x30),
    expiry: '9912',
    cryptogram: 'AAABBBCCCDDDEEEFFFGGGHHHIII=',
    amountCents: 999_999_999_999n,
    currency: 'BRL',
    stan: '999999',
    rrn: '999999999999',
    transmission: '1231235959',
    authCode: 'A00001',
    responseCode: '00',
    merchantId: 'M'.repeat(15),
    terminalId: 'T'.repeat(8),
    installments: 12,
    details: {
      entry,
      installmentPlan: pick(installmentPlans, at),
      softDescriptor: 'S'.repeat(22),
      eci: '05',
      dsTransactionId: 'ffffffff-ffff-4fff-bfff-ffffffffffff',
      initiator: pick(initiators, at),
      storedReason: pick(storedReasons, at),
      networkTransactionId: '9'.repeat(15),
      cardSequence: '001',
      acceptPartial: true,
      kept: Object.fromEntries([...kept].map(([key, { sample }]) => [key, sample])),
    },
    secrets: {
      cavv: 'AAABBBCCCDDDEEEFFFGGGHHHIII=',
      icc: '9F2608AABBCCDDEEFF0011',
      pinBlock: 'FFFFFFFFFFFFFFFF',
    },
    profile: {
      merchantId: 'M'.repeat(15),
      category: '5999',
      name: 'N'.repeat(25),
      city: 'C'.repeat(13),
      country: 'BR',
      postalCode: '99999999',
    },
    original: {
      mti: '0100',
      stan: '999999',
      transmission: '1231235959',
      processingCode: '000000',
    },
    remainingCents: name === 'partial_reversal' ? 999_999_999_999n : undefined,
    totalCents: name === 'increment' ? 999_999_999_999n : undefined,
    isFinal: name.startsWith('capture') ? at % 2 === 0 : undefined,
    captureNumber: name.startsWith('capture') ? 50 : undefined,
    networkCode: '001',
    ...(name === 'reconciliation' || name === 'batch_upload'
      ? sampleTotals
      : { settlementDate: undefined, totals: undefined, isUploaded: undefined }),
    isFirst: true,
    carried: 0,
  }))

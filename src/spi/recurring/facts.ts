import { CodecError } from '#codecs/bytes'
import {
  createMessageScanner,
  formatCents,
  identifyMessage,
  salvageMessage,
  type TypedMessages,
} from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { idCharsMax } from '../messages/view.ts'
import { scanned } from '../scanned.ts'
import type { Event, Fact, MandateSaid } from './domain.ts'

const readers = {
  'pain.009': (message: TypedMessages['pain.009']) =>
    message.mandates.map((one) =>
      mandateFact(one, { event: 'requested', status: null, reason: null }),
    ),
  'pain.011': (message: TypedMessages['pain.011']) =>
    message.cancellations.map(({ mandate, reason }) =>
      mandateFact(mandate, { event: 'cancellation_requested', status: null, reason }),
    ),
  'pain.012': (message: TypedMessages['pain.012']) =>
    message.answers.map(({ mandate, accepted, status, reason, processing }) => {
      const said = {
        event: accepted ? eventOf(mandateEvents, status) : refusalOf(mandate.mandateReference),
        status: status ?? (accepted ? 'accepted' : 'refused'),
        reason,
      }
      const { mandateReference: reference, debtorTown } = mandate
      const journey = processing.find(({ type }) => type.startsWith('AUT'))?.type ?? null
      return mandateFact(mandate, said, { reference, debtorTown, journey })
    }),
  'pain.013': (message: TypedMessages['pain.013']) => message.charges.map(chargeFact),
  'pain.014': (message: TypedMessages['pain.014']) =>
    message.answers.map(({ originalEndToEndId, reconciliationId, status, reason }) => ({
      ...aboutCharge(originalEndToEndId, reconciliationId),
      event: eventOf(chargeEvents, status),
      status,
      reason,
    })),
  'camt.055': ({ assignment, cancellation }: TypedMessages['camt.055']) => {
    const { transaction, reconciliationId, cancellationId, reason } = cancellation
    const { originalEndToEndId, processingType: status } = transaction
    return [
      {
        ...aboutCharge(originalEndToEndId, reconciliationId),
        event: eventOf(cancellationEvents, status),
        requestId: cancellationId,
        status,
        reason,
        speaker: assignment.assignerIspb,
      },
    ]
  },
  'camt.029': (message: TypedMessages['camt.029']) => {
    const { originalEndToEndId, reconciliationId, cancellationId, status, reason } = message
    const speaker = message.assignment.assignerIspb
    return [
      {
        ...aboutCharge(originalEndToEndId, reconciliationId),
        event: eventOf(resolutionEvents, status),
        requestId: cancellationId,
        status,
        reason,
        speaker,
      },
    ]
  },
} as const

type RecurringType = keyof typeof readers

/** The types that tell of mandates and charges. */
export const recurringTypes: readonly string[] = Object.keys(readers)

const mandateEvents = { PDNG: 'pending', CFDB: 'confirmed', CCLD: 'cancelled' } as const
const chargeEvents = { ACSP: 'scheduled', RJCT: 'refused' } as const
/** DHSR asks for a cancellation, DHIP tells of one. */
const cancellationEvents = { DHSR: 'cancellation_requested', DHIP: 'cancelled' } as const
const resolutionEvents = { ACCR: 'cancelled', RJCR: 'cancellation_refused' } as const

/** MndtRef is the id of what is answered: `IC…` of a cancellation. */
const refusalOf = (reference: string | null): Event => {
  if (reference === null) return 'unnamed_refused'
  return reference.startsWith('IC') ? 'cancellation_refused' : 'refused'
}

const eventOf = (events: Readonly<Record<string, Event>>, status: string | null): Event | null =>
  status !== null && Object.hasOwn(events, status) ? (events[status] ?? null) : null

type Part = Omit<Fact, 'type' | 'position'>

type Mandate = TypedMessages['pain.011']['cancellations'][number]['mandate']

type Answered = Pick<MandateSaid, 'reference' | 'journey' | 'debtorTown'>

const noAnswer: Answered = { reference: null, journey: null, debtorTown: null }

const mandateFact = (
  mandate: Mandate,
  said: Pick<Part, 'event' | 'status' | 'reason'>,
  answered = noAnswer,
): Part => ({
  kind: 'mandate',
  key: mandate.mandateId,
  requestId: mandate.mandateRequestId,
  mandateId: mandate.mandateId,
  reconciliationId: null,
  ...said,
  terms: {
    frequency: mandate.frequency,
    first_collection_date: mandate.firstCollectionDate,
    final_collection_date: mandate.finalCollectionDate,
    amount: mandate.collectionAmount === null ? null : formatCents(mandate.collectionAmount.cents),
    creditor_ispb: mandate.creditorAgentIspb,
    debtor_ispb: mandate.debtorAgentIspb,
    contract_number: mandate.contractNumber,
  },
  mandate: {
    ...answered,
    debtorDocument: mandate.debtorDocument,
    debtorIspb: mandate.debtorAgentIspb,
    debtorAccount: mandate.debtorAccount.id,
    debtorBranch: mandate.debtorAccount.branch,
  },
})

const aboutCharge = (
  key: string,
  reconciliationId: string,
): Pick<Part, 'kind' | 'key' | 'reconciliationId' | 'requestId' | 'mandateId' | 'terms'> => ({
  kind: 'charge',
  key,
  reconciliationId,
  requestId: null,
  mandateId: null,
  terms: null,
})

type Charge = TypedMessages['pain.013']['charges'][number]

const chargeFact = ({ transfer, ...charge }: Charge): Part => ({
  ...aboutCharge(transfer.endToEndId, charge.reconciliationId),
  event: 'requested',
  status: transfer.purpose,
  reason: null,
  mandateId: transfer.mandateId,
  terms: {
    amount: formatCents(transfer.amount.cents),
    purpose: transfer.purpose,
    due_date: charge.dueDate,
    execution_date_time: charge.executionDateTime,
    creditor_ispb: transfer.creditorAgentIspb,
    debtor_ispb: charge.debtorAgentIspb,
  },
})

const isRecurring = (type: string): type is RecurringType => Object.hasOwn(readers, type)

/**
 * What a message says about mandates and charges; nothing if it is of another type, nor of what in it cannot be read.
 *
 * @param identity as the document claims it
 */
export const factsOf = (
  document: XmlDocument,
  identity: { readonly type: string; readonly version: string },
): readonly Fact[] => {
  const { type, version } = identity
  if (!isRecurring(type)) return []
  const reading = salvageMessage(document, { type, version })
  if (!reading.ok) return []
  // The reader of a type takes what its message is read into.
  const read = readers[type] as (message: TypedMessages[RecurringType]) => readonly Part[]
  return read(reading.message)
    .map((part, position) => ({ ...part, type, position }))
    .filter(
      ({ key, mandateId }) =>
        key !== '' && key.length <= idCharsMax && (mandateId ?? '').length <= idCharsMax,
    )
}

/** We read one document completely before we scan the next. */
const scanner = createMessageScanner(nativeText)

/** The same for a message that is built here. */
export const factsIn = (type: string, bytes: Uint8Array): readonly Fact[] => {
  if (!isRecurring(type)) return []
  const document = scanned(scanner, bytes)
  if (document instanceof CodecError) return []
  const identity = identifyMessage(document)
  return identity === undefined ? [] : factsOf(document, identity)
}

/**
 * The channel of a message whose sender names none: scheduled payments (PAGAGD) go by the secondary, everything else by
 * the primary, including returns and their answers. The answer to a payment goes by the channel on which that came.
 */
export const channelOf = (messageType: string, params: unknown): 'PRIMARY' | 'SECONDARY' =>
  isScheduled(messageType, params) ? 'SECONDARY' : 'PRIMARY'

/** True for a scheduled payment, which settles within 45 minutes. */
export const isScheduled = (messageType: string, params: unknown): boolean => {
  if (messageType !== 'PACS008' || typeof params !== 'object' || params === null) return false
  return 'service_level' in params && params.service_level === 'PAGAGD'
}

/** True for returns, and for a status report that answers one: they go by the primary channel only. */
export const isOfReturns = (messageType: string, params: unknown): boolean =>
  messageType === 'PACS004' ||
  (messageType === 'PACS002' &&
    partsOf(params).some(({ original_instruction_id: id }) => String(id ?? '').startsWith('D')))

/** EndToEndId of the payment that a status report answers; undefined for a report on a return, or no report. */
export const answeredPayment = (messageType: string, params: unknown): string | undefined => {
  if (messageType !== 'PACS002' || isOfReturns(messageType, params)) return undefined
  const endToEndId = partsOf(params)[0]?.['original_end_to_end_id']
  return typeof endToEndId === 'string' ? endToEndId : undefined
}

const partsOf = (params: unknown): readonly Readonly<Record<string, unknown>>[] => {
  const { transactions, ...alone } = recordOf(params)
  return Array.isArray(transactions) ? transactions.map(recordOf) : [alone]
}

/**
 * The parameters of a PACS004 with the institutions of each payment, where the caller names none: who made an EndToEndId
 * need not have paid. It may be an initiator or, of a recurring payment, the receiver.
 */
export const withParties = (
  params: unknown,
  known: readonly Readonly<Record<'endToEndId' | 'debtorIspb' | 'creditorIspb', string | null>>[],
): unknown => {
  const completed = (one: unknown): unknown => {
    const fields = recordOf(one)
    const of = known.find(({ endToEndId }) => endToEndId === fields['original_end_to_end_id'])
    return {
      ...fields,
      receiving_ispb: fields['receiving_ispb'] ?? of?.debtorIspb ?? undefined,
      returning_ispb: fields['returning_ispb'] ?? of?.creditorIspb ?? undefined,
    }
  }
  const { transactions, ...alone } = recordOf(params)
  return Array.isArray(transactions)
    ? { ...alone, transactions: transactions.map(completed) }
    : completed(alone)
}

/** The text to the payer of one of the transactions. */
export const remittanceOf = (params: unknown, position: number): string | undefined => {
  const { transactions, ...alone } = recordOf(params)
  const one = Array.isArray(transactions) ? recordOf(transactions[position]) : alone
  const text = one['remittance_information']
  return typeof text === 'string' ? text : undefined
}

/** The fields of an object; none of anything else. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

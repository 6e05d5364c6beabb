/**
 * State of the request for one charge. A batch is done while it is asked for, so that nobody sees the first of them.
 */
export type BatchItemStatus = 'EM_PROCESSAMENTO' | 'CRIADA' | 'NEGADA'

/** Answers give the number of a batch as a JSON number, which every client must read exactly. Undefined: no such. */
export const batchIdIn = (given: string): number | undefined => {
  const id = Number(given)
  return /^[1-9]\d{0,15}$/.test(given) && Number.isSafeInteger(id) ? id : undefined
}

/** Accounts number their batches apart. */
export type BatchName = { readonly account: string; readonly id: number }

export type BatchItem = {
  readonly txid: string
  readonly status: BatchItemStatus
  /** `Problema` of the standard as JSON text, of what was denied. */
  readonly problem: string | null
  /** When the charge was made; null: it is not there. */
  readonly createdAt: Date | null
}

/** How the work at an item ended. */
export type ItemEnd = Omit<BatchItem, 'status'> & {
  /** Null: it was refused for now, which says nothing against a charge that is there. */
  readonly status: BatchItemStatus | null
}

export type Batch = {
  /** The receiver's number. */
  readonly id: number
  readonly description: string
  readonly createdAt: Date
  readonly items: readonly BatchItem[]
}

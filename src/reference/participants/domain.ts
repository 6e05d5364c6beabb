import known from './participants.json' with { type: 'json' }

/** An institution as the central bank lists it. */
export type Participant = {
  /** Eight digits or letters. */
  readonly ispb: string
  readonly name: string
  /** Whether it settles in the SPI by itself or by another; absent: the list does not say. */
  readonly settlement?: 'direct' | 'indirect' | undefined
  /** How it takes part in Pix, in the words of the list. */
  readonly modality?: string | undefined
  /** Number of the bank (COMPE), three digits. */
  readonly code?: string | undefined
}

/** The participants that the program itself knows: some well-known ones, not all. */
export const knownParticipants = known.participants as readonly Participant[]

export const knownSource = { source: known.source, asOf: known.asOf }

import { CodecError } from '#codecs/bytes'
import { type Details, TooLongFactError } from '../content/index.ts'

/** Whether no message of the network can carry what it was to; no byte of it was written then. */
export const isUncarried = (error: unknown): boolean =>
  error instanceof CodecError || error instanceof TooLongFactError

/**
 * The same without what was kept of the approval, which may be why no message can carry it; undefined if nothing was.
 * The network finds without that what is taken back.
 */
export const withoutKept = <T extends { readonly details?: Details | undefined }>(
  subject: T,
): T | undefined => {
  if (subject.details?.kept === undefined) return undefined
  const { kept: _, ...details } = subject.details
  return { ...subject, details }
}

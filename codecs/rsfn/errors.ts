/**
 * The values of field C03, which a receiver writes into the header it sends back.
 * Key: the code; value: the header field at fault and what the code means.
 *
 * Source: security manual of the National Financial System network (RSFN), header field C03.
 */
export const rsfnErrors = {
  0: { field: 'C03', meaning: 'no error' },
  1: { field: 'C01', meaning: 'wrong header length' },
  2: { field: 'C02', meaning: 'protocol version not valid or not accepted' },
  3: { field: 'C06', meaning: 'asymmetric algorithm of the destination not valid' },
  4: { field: 'C07', meaning: 'symmetric algorithm not valid' },
  5: { field: 'C08', meaning: 'asymmetric algorithm of the sender not valid' },
  6: { field: 'C09', meaning: 'hash algorithm not valid' },
  7: { field: 'C10', meaning: 'certificate authority of the destination not valid' },
  8: { field: 'C11', meaning: 'certificate serial number of the destination not valid' },
  9: { field: 'C12', meaning: 'certificate authority of the sender not valid' },
  10: { field: 'C13', meaning: 'certificate serial number of the sender not valid' },
  11: { field: 'C15', meaning: 'digital signature not valid' },
  12: { field: 'C13', meaning: 'certificate does not belong to the issuer of the message' },
  13: { field: 'C14', meaning: 'symmetric key could not be extracted' },
  14: { field: 'body', meaning: 'symmetric decryption failed' },
  15: { field: 'body', meaning: 'message length is not a multiple of 8 bytes' },
  16: { field: 'C13', meaning: 'certificate of the sender is not active' },
  17: { field: 'C13', meaning: 'certificate of the sender is expired or revoked' },
  18: { field: 'C03', meaning: 'software error at the receiver' },
  19: { field: 'C04', meaning: 'special use not valid or not in agreement with the message' },
  20: { field: 'C13', meaning: 'certificate of the sender is not enabled' },
  255: { field: 'body', meaning: 'error outside the security layer' },
} as const satisfies Readonly<Record<number, { field: string; meaning: string }>>

/** A value of field C03. */
type RsfnErrorCode = keyof typeof rsfnErrors

/** A value of field C03 that reports a failure. */
export type RsfnFailureCode = Exclude<RsfnErrorCode, 0x00>

import { CodecError } from '#codecs/bytes'

// The identifier of an entry's content: HMAC-SHA-256 over its attributes, keyed by the identifier of the request that
// made the entry. Source: DICT API, section "Cálculo de CID".

export type KeyType = 'CPF' | 'CNPJ' | 'PHONE' | 'EMAIL' | 'EVP'

/**
 * @property participant - ISPB, 8 characters
 * @property branch - without one if undefined
 * @property accountType - code of the kind of account, such as `CACC`
 */
export type Account = {
  readonly participant: string
  readonly branch?: string | undefined
  readonly accountNumber: string
  readonly accountType: string
}

/**
 * The contents of an entry of the directory of Pix keys, in the exact characters that the directory was given:
 * another spelling of a name is another content.
 */
export type DirectoryEntry = {
  readonly keyType: KeyType
  readonly key: string
  readonly owner: {
    readonly taxIdNumber: string
    readonly name: string
    readonly tradeName?: string | undefined
  }
  readonly account: Account
}

/** HMAC with SHA-256: 32 bytes. */
export type HmacSha256 = (key: Uint8Array, message: Uint8Array) => Uint8Array

const requestIdBytes = 16
const cidBytes = 32
const encoder = new TextEncoder()

/** Throws unless the text is well-formed: UTF-8 has no bytes for half a character. */
const wellFormed = (text: string): string => {
  if (text.isWellFormed()) return text
  throw new CodecError('cid_text', 0, 'an attribute is no well-formed text')
}

/**
 * The content identifier of an entry: 64 lower-case hexadecimal digits.
 *
 * @param requestId - the 16 bytes of the RequestId (UUID) that made the entry
 * @throws CodecError `cid_request_id` if there are not 16 of them; `cid_text` if an attribute holds half a character;
 *   `cid_hmac` if the function gives no 32 bytes
 */
export const cidOf = (
  { keyType, key, owner, account }: DirectoryEntry,
  requestId: Uint8Array,
  hmacSha256: HmacSha256,
): string => {
  if (requestId.length !== requestIdBytes) {
    throw new CodecError('cid_request_id', 0, 'a RequestId has 16 bytes')
  }
  const { taxIdNumber, name, tradeName = '' } = owner
  const { participant, branch = '', accountNumber, accountType } = account
  const attributes = [keyType, key, taxIdNumber, name, tradeName]
    .concat(participant, branch, accountNumber, accountType)
    .map(wellFormed)
    .join('&')
  const cid = hmacSha256(requestId, encoder.encode(attributes))
  if (cid.length !== cidBytes) throw new CodecError('cid_hmac', 0, 'HMAC-SHA-256 gives 32 bytes')
  return cid.toHex()
}

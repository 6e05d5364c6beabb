/**
 * Names of fields that hold identifiers of ours, or of a form that was checked before they came in: their digits are
 * random, and now and then look like a card number. Without regard to case, `_` and `-`.
 */
const identifierNames: ReadonlySet<string> = new Set([
  ...['id', 'ids', 'requestid', 'traceid', 'spanid', 'traceparent', 'keyid', 'owner', 'fence'],
  ...['messageid', 'messageids', 'msgid', 'bizmsgidr', 'bizmsgid', 'resourceid', 'piresourceid'],
  ...['endtoendid', 'e2eid', 'instructionid', 'transactionid', 'transactionids', 'returnid'],
  ...['originalmessageid', 'transformationid', 'correlationid', 'objectid'],
  ...['transaction', 'reversal', 'reversalid', 'transfer', 'transferid', 'wallet', 'walletid'],
  ...['event', 'eventid', 'delivery', 'deliveryid', 'endpoint', 'endpointid', 'webhookid'],
  ...['txhash', 'hash', 'blockhash', 'sender', 'contract', 'contractid', 'address', 'stan', 'rrn'],
  ...['migration', 'fingerprint', 'sha256'],
])

/** Names of fields whose value must not be shown, whatever it is. */
const secretNames: ReadonlySet<string> = new Set([
  ...['pwd', 'pan', 'cardnumber', 'cvv', 'cvc', 'cvv2', 'pin', 'pinblock'],
  ...['track1', 'track2', 'track3', 'authorization', 'proxyauthorization', 'cookie', 'setcookie'],
])

/** The same, whatever stands before: `client_secret`, `db_password`. */
const secretEnd =
  /(?:passw(?:ord|d)|passphrase|secret|(?:api|private|master)key|(?:access|refresh|session|auth|id)token)$/

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

type NameKind = 'identifier' | 'secret' | undefined

const judgedKind = (name: string): NameKind => {
  const plain = plainName(name)
  if (identifierNames.has(plain)) return 'identifier'
  return secretNames.has(plain) || secretEnd.test(plain) ? 'secret' : undefined
}

/** Field names are few and recur with every line; callers may send as many names as they please. */
const kinds = new Map<string, NameKind>()
const kindsMax = 1_000
const keptNameMax = 64

/** The kind of value that the name of a field promises. */
export const nameKind = (name: string): NameKind => {
  const known = kinds.get(name)
  if (known !== undefined || kinds.has(name)) return known
  const kind = judgedKind(name)
  if (kinds.size < kindsMax && name.length <= keptNameMax) kinds.set(name, kind)
  return kind
}

const before = '(?<![0-9A-Za-z])'
const after = '(?![0-9A-Za-z])'

/** Forms that no card number has by chance: each fixes more characters than its digits could. */
const forms = [
  // UUID (RFC 9562) with a letter in it.
  '(?=[0-9-]*[a-fA-F])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}',
  // The same (version 7) behind a prefix of ours, without hyphens.
  '[a-z]{3}_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}',
  // EndToEndId and RtrId: letter, ISPB, minute, eleven characters.
  '[DE][0-9]{8}20[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])[0-5][0-9][0-9A-Za-z]{11}',
  // BizMsgIdr and MsgId: letter, ISPB, 23 characters.
  'M[0-9]{8}[0-9A-Za-z]{23}',
  // Transaction hash or storage key, and address of an EVM network.
  '0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})',
  // W3C Trace Context.
  '00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-9a-f]',
]
const identifierForm = new RegExp(`${before}(?:${forms.join('|')})${after}`, 'g')

/** A text of the same length with letters in place of identifiers. */
export const withoutIdentifiers = (text: string): string =>
  text.replaceAll(identifierForm, (found) => 'x'.repeat(found.length))

/** A random identifier of a caller: hexadecimal digits as hashes have, with a letter, or a ULID. */
const opaqueForm =
  /^(?:(?=[0-9]*[a-fA-F])(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{64})|(?=[0-9]*[A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25})$/

export const isOpaque = (value: string): boolean => opaqueForm.test(value)

export {
  type CanonicalName,
  canonicalIssuer,
  issuerText,
  NAME_CHARS_MAX,
  parseName,
} from './distinguished-name.ts'
export {
  type ByteRange,
  type CanonicalEnvelope,
  type PreparedKeyInfo,
  prepareKeyInfo,
  prepareSignature,
  type Sha256,
  signEnvelope,
  type UnsignedEnvelope,
} from './sign.ts'

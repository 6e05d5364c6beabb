export { canonicalCopy, canonicalForm } from './canonical.ts'
export {
  type CanonicalName,
  canonicalIssuer,
  issuerText,
  NAME_CHARS_MAX,
  parseName,
} from './distinguished-name.ts'
export { type CanonicalOptions, exclusiveC14n } from './exclusive-c14n.ts'
export {
  XMLDSIG_REFUSALS,
  type XmldsigRefusal,
  type XmldsigRefusalCode,
} from './refusal.ts'
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
export {
  type SignerCertificate,
  type VerifyPorts,
  verifyEnvelope,
  type XmldsigVerified,
} from './verify.ts'

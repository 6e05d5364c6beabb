export { canonicalCopy, canonicalForm } from './canonical.ts'
export {
  type CanonicalName,
  canonicalIssuer,
  issuerText,
  nameCharsMax,
  parseName,
} from './distinguished-name.ts'
export { type CanonicalOptions, exclusiveC14n } from './exclusive-c14n.ts'
export {
  type XmldsigRefusal,
  type XmldsigRefusalCode,
  xmldsigRefusals,
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

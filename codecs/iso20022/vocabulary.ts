import { createXmlVocabulary } from '#codecs/xml'

/** The element names of the typed messages and of their signature: a reader compares their ids, never strings. */
const names =
  `Envelope AppHdr Document Fr To FIId FinInstnId Othr Id BizMsgIdr MsgDefIdr CreDt Sgntr
FIToFICstmrCdtTrf GrpHdr MsgId CreDtTm NbOfTxs SttlmInf SttlmMtd PmtTpInf InstrPrty SvcLvl Prtry
CdtTrfTxInf PmtId InstrId EndToEndId TxId IntrBkSttlmAmt AccptncDtTm ChrgBr MndtRltdInf Tp LclInstrm
InitgPty OrgId Dbtr Nm PrvtId DbtrAcct Issr Cd DbtrAgt ClrSysMmbId MmbId CdtrAgt Cdtr CdtrAcct Prxy
Purp Tax RefNb Rcrd Ctgy TaxAmt TtlAmt RmtInf Ustrd Strd RfrdDocInf CdOrPrtry RfrdDocAmt
AdjstmntAmtAndRsn Amt Rsn FIToFIPmtStsRpt TxInfAndSts OrgnlInstrId OrgnlEndToEndId TxSts StsRsnInf
AddtlInf FctvIntrBkSttlmDt DtTm OrgnlTxRef IntrBkSttlmDt PmtRtr TxInf RtrId RtrdIntrBkSttlmAmt
SttlmPrty RtrRsnInf
Signature SignedInfo CanonicalizationMethod SignatureMethod Reference Transforms Transform DigestMethod
DigestValue SignatureValue KeyInfo X509Data X509IssuerSerial X509IssuerName X509SerialNumber`.split(
    /\s+/,
  )

export const messageVocabulary = createXmlVocabulary(names)

/** The id of a name that a shape uses; a name missing above is a mistake of ours. */
export const nameIdOf = (name: string): number => {
  const id = messageVocabulary.idOf(name)
  if (id < 0) throw new Error(`element name ${name} is not in the vocabulary`)
  return id
}

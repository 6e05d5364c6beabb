import { createXmlVocabulary } from '#codecs/xml'

/** The element names of the typed messages and of their signature: a reader compares their ids, never strings. */
const typedNames =
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

/** The further names of the catalogue and of signatures: schema validation compares ids as well. */
const catalogueNames =
  `Accptd AccptncRslt Acct AcctOwnr AcctRptgReq AddtlData AddtlInfInd AddtlNtfctnInf AddtlNtryInf
AddtlRptInf AddtlTxInf Adjstmnt Agt Assgne Assgnmt Assgnr Bal BkToCstmrAcctRpt
BkToCstmrDbtCdtNtfctn BkToCstmrStmt BkTxCd BookgDt CanonicalizationMethod CdtDbtInd CdtTrfTx
CdtrPmtActvtnReq CdtrPmtActvtnReqStsRpt CdtrRef Chng ClrSysRef ColltnAmt Conf CstmrPmtCxlReq
CtctDtls CxlDtls CxlPrcgDtls CxlPrcgTp CxlRsn CxlRsnInf CxlStsRsnInf Data DbtrDcsnDtTm
DigestMethod DigestValue Domn Dt DtAdjstmntRuleInd EchoReq EchoRpt EchoTxInf EmailAdr Envlp
ErrLctn EvtCd EvtDesc EvtInf FaxNb FldNm Fmly FnlColltnDt FrDt FrTm FrToDt FrToTm Frqcy
FrstColltnDt FullLglNm InstdAmt InstgAgt KeyInfo KeyName MktSpcfcAttr Mmb MmbOrErr Mndt
MndtAccptncRpt MndtCxlReq MndtId MndtInitnReq MndtPrcgDtls MndtPrcgTp MndtRef MndtReqId MndtSts
MobNb Mod MsgHdr MsgNmId Nb NbOfNtries NewFldVal Ntfctn Ntry NtryDtls Ocrncs OdFldVal
OrgnlBizInstr OrgnlData OrgnlGrpInfAndSts OrgnlMndt OrgnlMsgId OrgnlMsgNmId OrgnlPmtId
OrgnlPmtInfAndCxl OrgnlPmtInfAndSts OrgnlPmtInfCxlId OrgnlPmtInfId Orgtr PhneNb PmtCxlId PmtInf
PmtInfCxlSts PmtInfId PmtMtd PmtScnro PmtStsTrckrRpt PrcgDtTm PrtryId PstlAdr Pty PtyActvty
PtyActvtyAdvc PtyCreReq PtyDeltnReq PtyId PtyModReq PtyOrErr PtyRole PtyRoleIdSD1 PtyRpt PtySts
PtyStsAdvc Rct RctDtls Ref Reference Refs ReqHdlg ReqdBalTp ReqdExctnDt ReqdMod ReqdMsgNmId
RfrdDoc RjctRsn RjctgPtyRsn RjctnDtTm RltdAgts RltdDts RltdPties RltdRef RolePlyr Rpt RptOrErr
RptgPrd RptgReq RsltnOfInvstgtn RsnDesc RspnsblPtyId Rspnsblty RtrAdr RtrInf RtrMmb ScpIndctn
SeqTp Signature SignatureMethod SignatureValue SignedInfo SplmtryData Stmt Sts StsRsn SubFmlyCd
SysEvtNtfctn SysPty SysPtyId TechAdr ToDt ToTm Transform Transforms TrckgInd TrckrStsAndTx
TtlNtries TwnNm Tx TxDtls TxsSummry UltmtDbtr Undrlyg UndrlygAccptncDtls UndrlygCxlDtls Val ValDt
X509Certificate X509Data X509IssuerName X509IssuerSerial X509SKI X509SerialNumber X509SubjectName
XpryDt admi.002.001.01
DSAKeyValue Exponent G HMACOutputLength J KeyValue Manifest MgmtData Modulus
Object P PGPData PGPKeyID PGPKeyPacket PgenCounter Q RSAKeyValue RetrievalMethod SPKIData SPKISexp Seed SignatureProperties SignatureProperty X509CRL XPath Y`.split(
    /\s+/,
  )

export const messageVocabulary = createXmlVocabulary([...typedNames, ...catalogueNames])

/** The id of a name that a shape uses. A name missing above is our own mistake. */
export const nameIdOf = (name: string): number => {
  const id = messageVocabulary.idOf(name)
  if (id < 0) throw new Error(`element name ${name} is not in the vocabulary`)
  return id
}

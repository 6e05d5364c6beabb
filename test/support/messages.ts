/** Messages of our own making in the SPI's shapes; no real person or institution is in them. */

export type Pacs008Options = {
  readonly transactions?: number
  readonly version?: string
  readonly signature?: string
}

const ispb = (tag: 'Fr' | 'To', id: string): string =>
  `<${tag}><FIId><FinInstnId><Othr><Id>${id}</Id></Othr></FinInstnId></FIId></${tag}>`

const header = (type: string, version: string, from: string, signature: string): string =>
  `<AppHdr>${ispb('Fr', from)}${ispb('To', '00038166')}<BizMsgIdr>M${from}aB3dE5gH7jK9mN1pQ3sT5vW</BizMsgIdr><MsgDefIdr>${type}.spi.${version}</MsgDefIdr><CreDt>2026-03-02T14:05:09.123Z</CreDt><Sgntr>${signature}</Sgntr></AppHdr>`

const account = (tag: string, id: string, proxy: string): string =>
  `<${tag}><Id><Othr><Id>${id}</Id><Issr>0001</Issr></Othr></Id><Tp><Cd>CACC</Cd></Tp>${proxy}</${tag}>`

const agent = (tag: string, id: string): string =>
  `<${tag}><FinInstnId><ClrSysMmbId><MmbId>${id}</MmbId></ClrSysMmbId></FinInstnId></${tag}>`

const party = (tag: string, name: string, document: string): string =>
  `<${tag}>${name}<Id><PrvtId><Othr><Id>${document}</Id></Othr></PrvtId></Id></${tag}>`

export const endToEndId = (index: number): string =>
  `E1234567820260302140500000000${String(index).padStart(3, '0')}`

const creditTransfer = (index: number): string =>
  `<CdtTrfTxInf><PmtId><EndToEndId>${endToEndId(index)}</EndToEndId></PmtId><IntrBkSttlmAmt Ccy="BRL">${1000 + index}.50</IntrBkSttlmAmt><AccptncDtTm>2026-03-02T14:05:00.000Z</AccptncDtTm><ChrgBr>SLEV</ChrgBr><MndtRltdInf><Tp><LclInstrm><Prtry>DICT</Prtry></LclInstrm></Tp></MndtRltdInf>${party('Dbtr', '<Nm>Conceição &amp; Irmãos</Nm>', '12345678909')}${account('DbtrAcct', '500100', '')}${agent('DbtrAgt', '12345678')}${agent('CdtrAgt', '87654321')}${party('Cdtr', '', '98765432100')}${account('CdtrAcct', '600200', '<Prxy><Id>chave@exemplo.com.br</Id></Prxy>')}<Purp><Cd>IPAY</Cd></Purp><RmtInf><Ustrd>Pedido 42</Ustrd></RmtInf></CdtTrfTxInf>`

/** A signature of the right shape over nothing: 1.7 KB, as a real message carries. */
export const shapedSignature: string = (() => {
  const algorithm = (tag: string, uri: string) => `<ds:${tag} Algorithm="${uri}"></ds:${tag}>`
  const c14n = algorithm('Transform', 'http://www.w3.org/2001/10/xml-exc-c14n#')
  const reference = (uri: string, transforms: string) =>
    `<ds:Reference${uri}><ds:Transforms>${transforms}</ds:Transforms>${algorithm('DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha256')}<ds:DigestValue>${'q'.repeat(43)}=</ds:DigestValue></ds:Reference>`
  return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>${algorithm('CanonicalizationMethod', 'http://www.w3.org/2001/10/xml-exc-c14n#')}${algorithm('SignatureMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256')}${reference(' URI="#key"', c14n)}${reference(' URI=""', algorithm('Transform', 'http://www.w3.org/2000/09/xmldsig#enveloped-signature') + c14n)}${reference('', c14n)}</ds:SignedInfo><ds:SignatureValue>${'Zm9v'.repeat(86)}</ds:SignatureValue><ds:KeyInfo Id="key"><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=AC de Teste, OU=CSPB-4, O=ICP-Brasil, C=BR</ds:X509IssuerName><ds:X509SerialNumber>1234567890123456789</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo></ds:Signature>`
})()

export const pacs008 = (options: Pacs008Options = {}): string => {
  const { transactions = 1, version = '1.13', signature = shapedSignature } = options
  const all = Array.from({ length: transactions }, (_, index) => creditTransfer(index)).join('')
  return `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="https://www.bcb.gov.br/pi/pacs.008/${version}">${header('pacs.008', version, '12345678', signature)}<Document><FIToFICstmrCdtTrf><GrpHdr><MsgId>M12345678aB3dE5gH7jK9mN1pQ3sT5vW</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm><NbOfTxs>${transactions}</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf><PmtTpInf><InstrPrty>HIGH</InstrPrty><SvcLvl><Prtry>PAGPRI</Prtry></SvcLvl></PmtTpInf></GrpHdr>${all}</FIToFICstmrCdtTrf></Document></Envelope>`
}

export const pacs002 = (transactions: string, version = '1.14'): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="https://www.bcb.gov.br/pi/pacs.002/${version}">${header('pacs.002', version, '00038166', '')}<Document><FIToFIPmtStsRpt><GrpHdr><MsgId>M00038166aB3dE5gH7jK9mN1pQ3sT5vW</MsgId><CreDtTm>2026-03-02T14:05:10.000Z</CreDtTm></GrpHdr>${transactions}</FIToFIPmtStsRpt></Document></Envelope>`

export const pacs004 = (version = '1.5'): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="https://www.bcb.gov.br/pi/pacs.004/${version}">${header('pacs.004', version, '87654321', '')}<Document><PmtRtr><GrpHdr><MsgId>M87654321aB3dE5gH7jK9mN1pQ3sT5vW</MsgId><CreDtTm>2026-03-02T15:00:00.000Z</CreDtTm><NbOfTxs>1</NbOfTxs><SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr><TxInf><RtrId>D8765432120260302150000000000001</RtrId><OrgnlEndToEndId>${endToEndId(0)}</OrgnlEndToEndId><RtrdIntrBkSttlmAmt Ccy="BRL">12.30</RtrdIntrBkSttlmAmt><SttlmPrty>HIGH</SttlmPrty><ChrgBr>SLEV</ChrgBr><RtrRsnInf><Rsn><Cd>MD06</Cd></Rsn></RtrRsnInf><OrgnlTxRef>${agent('DbtrAgt', '87654321')}${agent('CdtrAgt', '12345678')}</OrgnlTxRef></TxInf></PmtRtr></Document></Envelope>`

const encoder = new TextEncoder()

export const utf8 = (text: string): Uint8Array => encoder.encode(text)

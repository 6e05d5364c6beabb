import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.List;
import javax.xml.crypto.Data;
import javax.xml.crypto.NodeSetData;
import javax.xml.crypto.URIDereferencer;
import javax.xml.crypto.dsig.CanonicalizationMethod;
import javax.xml.crypto.dsig.DigestMethod;
import javax.xml.crypto.dsig.Reference;
import javax.xml.crypto.dsig.SignedInfo;
import javax.xml.crypto.dsig.Transform;
import javax.xml.crypto.dsig.XMLSignature;
import javax.xml.crypto.dsig.XMLSignatureFactory;
import javax.xml.crypto.dsig.dom.DOMSignContext;
import javax.xml.crypto.dsig.dom.DOMValidateContext;
import javax.xml.crypto.dsig.keyinfo.KeyInfo;
import javax.xml.crypto.dsig.keyinfo.KeyInfoFactory;
import javax.xml.crypto.dsig.spec.C14NMethodParameterSpec;
import javax.xml.crypto.dsig.spec.TransformParameterSpec;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;

/**
 * The JDK's XMLDSig with the two references that the profile leaves to the application. A document whose root is no
 * Envelope is signed whole, by references that XMLDSig itself resolves.
 */
public class XmldsigPeer {
  static final String EXC = CanonicalizationMethod.EXCLUSIVE;
  static final XMLSignatureFactory FACTORY = XMLSignatureFactory.getInstance("DOM");

  public static void main(String[] args) throws Exception {
    DocumentBuilderFactory builders = DocumentBuilderFactory.newInstance();
    builders.setNamespaceAware(true);
    Document document = builders.newDocumentBuilder().parse(new File(args[2]));
    byte[] key = Files.readAllBytes(Path.of(args[1]));
    KeyFactory rsa = KeyFactory.getInstance("RSA");
    if (args[0].equals("verify")) {
      PublicKey publicKey = rsa.generatePublic(new X509EncodedKeySpec(key));
      System.out.print(verify(document, publicKey) ? "valid" : "invalid");
    } else {
      PrivateKey privateKey = rsa.generatePrivate(new PKCS8EncodedKeySpec(key));
      sign(document, privateKey, args[3], args[4]);
      Transformer writer = TransformerFactory.newInstance().newTransformer();
      writer.setOutputProperty(OutputKeys.ENCODING, "UTF-8");
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      writer.transform(new DOMSource(document), new StreamResult(out));
      Files.write(Path.of(args[5]), out.toByteArray());
    }
  }

  static Element child(Element parent, String name) {
    for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (name.equals(node.getLocalName())) return (Element) node;
    }
    throw new IllegalStateException(name);
  }

  /** The inherited namespace is written on the element itself, which its canonical form has too. */
  static Element apex(Document document, String name) {
    Element element = child(document.getDocumentElement(), name);
    String prefix = element.getPrefix();
    element.setAttributeNS("http://www.w3.org/2000/xmlns/",
        prefix == null ? "xmlns" : "xmlns:" + prefix, element.getNamespaceURI());
    return element;
  }

  static void collect(Node node, List<Node> into) {
    into.add(node);
    NamedNodeMap attributes = node.getAttributes();
    for (int i = 0; attributes != null && i < attributes.getLength(); i++) into.add(attributes.item(i));
    for (Node at = node.getFirstChild(); at != null; at = at.getNextSibling()) collect(at, into);
  }

  static Data subtree(Node node) {
    List<Node> nodes = new ArrayList<>();
    collect(node, nodes);
    return (NodeSetData<Node>) nodes::iterator;
  }

  static boolean isEnvelope(Document document) {
    return "Envelope".equals(document.getDocumentElement().getLocalName());
  }

  /** The element that holds the signature. */
  static Element holder(Document document) {
    Element root = document.getDocumentElement();
    return isEnvelope(document) ? child(child(root, "AppHdr"), "Sgntr") : root;
  }

  static URIDereferencer dereferencer(Document document) {
    if (!isEnvelope(document)) return FACTORY.getURIDereferencer();
    Element appHdr = apex(document, "AppHdr");
    Element body = apex(document, "Document");
    URIDereferencer standard = FACTORY.getURIDereferencer();
    return (reference, context) -> {
      if (reference.getURI() == null) return subtree(body);
      if (reference.getURI().isEmpty()) return subtree(appHdr);
      return standard.dereference(reference, context);
    };
  }

  static boolean verify(Document document, PublicKey key) throws Exception {
    Element signature = child(holder(document), "Signature");
    Element keyInfo = child(signature, "KeyInfo");
    keyInfo.setIdAttribute("Id", true);
    DOMValidateContext context = new DOMValidateContext(key, signature);
    context.setProperty("org.jcp.xml.dsig.secureValidation", Boolean.FALSE);
    context.setURIDereferencer(dereferencer(document));
    return FACTORY.unmarshalXMLSignature(context).validate(context);
  }

  static Reference reference(String uri, String... transforms) throws Exception {
    List<Transform> list = new ArrayList<>();
    for (String name : transforms) list.add(FACTORY.newTransform(name, (TransformParameterSpec) null));
    DigestMethod digest = FACTORY.newDigestMethod(DigestMethod.SHA256, null);
    return FACTORY.newReference(uri, digest, list, null, null);
  }

  static void sign(Document document, PrivateKey key, String issuer, String serial) throws Exception {
    List<Reference> references = new ArrayList<>();
    references.add(reference("#key-1", EXC));
    references.add(reference("", Transform.ENVELOPED, EXC));
    if (isEnvelope(document)) references.add(reference(null, EXC));
    SignedInfo signedInfo = FACTORY.newSignedInfo(
        FACTORY.newCanonicalizationMethod(EXC, (C14NMethodParameterSpec) null),
        FACTORY.newSignatureMethod("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", null),
        references);
    KeyInfoFactory keys = FACTORY.getKeyInfoFactory();
    KeyInfo keyInfo = keys.newKeyInfo(
        List.of(keys.newX509Data(List.of(
            keys.newX509IssuerSerial(issuer, new java.math.BigInteger(serial))))), "key-1");
    DOMSignContext context = new DOMSignContext(key, holder(document));
    context.setDefaultNamespacePrefix("ds");
    context.setURIDereferencer(dereferencer(document));
    XMLSignature signature = FACTORY.newXMLSignature(signedInfo, keyInfo);
    signature.sign(context);
  }
}

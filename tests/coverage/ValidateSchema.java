import java.io.File;
import javax.xml.XMLConstants;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.SchemaFactory;

/** Validates an XML file against a schema: ValidateSchema FILE XSD. Ends with an exception if it is not valid. */
public class ValidateSchema {
    public static void main(String[] args) throws Exception {
        SchemaFactory factory = SchemaFactory.newInstance(XMLConstants.W3C_XML_SCHEMA_NS_URI);
        factory.newSchema(new File(args[1])).newValidator().validate(new StreamSource(new File(args[0])));
        System.out.println("valid");
    }
}
